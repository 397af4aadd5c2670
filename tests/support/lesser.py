"""Executes a program in whose processes some system calls fail.

lesser.py ERRNO CALL[,CALL]... PROGRAM [ARGUMENT]...
"""

import ctypes
import errno
import os
import struct
import sys

# x86-64, aarch64
NUMBERS = {
    "mount": (165, 40),
    "fsopen": (430, 430),
    "open_tree": (428, 428),
    "landlock_create_ruleset": (444, 444),
}
LOAD, EQUAL, ANSWER = 0x20, 0x15, 0x06
ERROR, ALLOW = 0x00050000, 0x7FFF0000
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, FILTER = 22, 38, 2


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p)]


error, calls, command = getattr(errno, sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]
architecture = ["x86_64", "aarch64"].index(os.uname().machine)
numbers = [NUMBERS[call][architecture] for call in calls]
# The number of the call is the first field of what a filter sees.
instructions = [(LOAD, 0, 0, 0)]
instructions += [(EQUAL, len(numbers) - place, 0, number) for place, number in enumerate(numbers)]
instructions += [(ANSWER, 0, 0, ALLOW), (ANSWER, 0, 0, ERROR | error)]
buffer = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in instructions))
program = Program(len(instructions), ctypes.addressof(buffer))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0):
    sys.exit(f"can't install a filter: {os.strerror(ctypes.get_errno())}")
os.execvp(command[0], command)
