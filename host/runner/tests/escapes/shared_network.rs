//! What a command must not reach that has the host's network: it is then in the host's network namespace, where names
//! of sockets and the network's own state are.

use crate::attack::{Aim, Attack};
use crate::network::passing;

const SECRET: Aim = Aim::Prints(|arena| arena.hidden()[0].secret.clone());

attacks! {
    an_abstract_socket_is_connected_to => Attack::python(
        "
import socket
socket.socket(socket.AF_UNIX).connect('\\0' + ABSTRACT_PORT + '-stream')
",
    ).networked().aims(Aim::Seen(|arena| arena.ports.as_ref().unwrap().abstract_called()));

    a_datagram_is_sent_to_an_abstract_socket => Attack::python(
        "
import socket
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'secret', '\\0' + ABSTRACT_PORT + '-datagrams')
",
    ).networked().aims(Aim::Seen(|arena| arena.ports.as_ref().unwrap().abstract_received()));

    a_file_is_passed_in_by_an_abstract_socket => Attack::python(
        "
import socket
connection = socket.socket(socket.AF_UNIX)
connection.connect('\\0' + UNIQUE)
_, fds, _, _ = socket.recv_fds(connection, 1, 1)
print(os.read(fds[0], 200).decode(), flush=True)
",
    ).networked().prepared(|arena| passing(arena, "'\\0' + UNIQUE")).aims(SECRET);

    a_socket_outside_is_connected_to => Attack::python(
        "
import socket
SOCKETS = [place + 'socket' for place in HIDDEN]
each(lambda path: socket.socket(socket.AF_UNIX).connect(path), SOCKETS)
",
    ).networked().aims(Aim::Hidden(|place| place.was_called()));

    a_socket_to_the_machines_host_is_opened => Attack::python(
        "
import socket
try:
    socket.socket(40, socket.SOCK_STREAM)
except OSError as error:
    if error.errno == errno.EAFNOSUPPORT:
        absent('this kernel has no vsock')
    raise
won()
",
    ).networked();

    a_packet_socket_is_opened => Attack::root(
        "
import socket
try:
    socket.socket(17, socket.SOCK_RAW, socket.htons(3))
except OSError as error:
    if error.errno == errno.EAFNOSUPPORT:
        absent('this kernel has no packet sockets')
    raise
won()
",
    ).networked();

    a_raw_socket_is_opened => Attack::root(
        "
import socket
socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
won()
",
    ).networked();

    /// To what it is.
    an_interface_of_the_host_is_changed => Attack::root(
        "
import fcntl, socket
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
request = fcntl.ioctl(udp, 0x8921, struct.pack('16s24x', b'lo'))  # SIOCGIFMTU
fcntl.ioctl(udp, 0x8922, request)  # SIOCSIFMTU
won()
",
    ).networked();

    the_namespace_of_the_network_is_entered => Attack::root(
        "
call('setns', os.open('/proc/self/ns/net', os.O_RDONLY), 0x40000000)
won()
",
    ).networked();
}
