//! The network, and sockets that are files or names.

use crate::arena::Arena;
use crate::attack::{Aim, Attack};

const SECRET: Aim = Aim::Prints(|arena| arena.hidden()[0].secret.clone());
const CALLED: Aim = Aim::Hidden(|place| place.was_called());

attacks! {
    a_tcp_connection_is_made => Attack::python(
        "
import socket
socket.create_connection(('127.0.0.1', PORT)).send(b'secret')
",
    ).aims(Aim::Seen(|arena| arena.ports.as_ref().unwrap().tcp_called()));

    /// An address of the machine's other than the loopback's.
    a_tcp_connection_is_made_to_all_addresses => Attack::python(
        "
import socket
socket.create_connection(('0.0.0.0', PORT)).send(b'secret')
",
    ).aims(Aim::Seen(|arena| arena.ports.as_ref().unwrap().tcp_called()));

    a_tcp_connection_is_made_over_ipv6 => Attack::python(
        "
import socket
if not PORT6:
    absent('this machine has no IPv6')
socket.create_connection(('::1', PORT6)).send(b'secret')
",
    ).aims(Aim::Seen(|arena| arena.ports.as_ref().unwrap().tcp6_called()));

    /// The connection is made by the first bytes, not by `connect` (`MSG_FASTOPEN`).
    a_tcp_connection_is_made_by_sending => Attack::python(
        "
import socket
tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
tcp.sendto(b'secret', 0x20000000, ('127.0.0.1', PORT))
",
    ).aims(Aim::Seen(|arena| arena.ports.as_ref().unwrap().tcp_called()));

    /// Landlock's rights for TCP do not know it.
    a_multipath_connection_is_made => Attack::python(
        "
import socket
try:
    mptcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
except OSError as error:
    if error.errno in (errno.EPROTONOSUPPORT, errno.ENOPROTOOPT):
        absent('this kernel has no MPTCP')
    raise
mptcp.connect(('127.0.0.1', PORT))
",
    ).aims(Aim::Seen(|arena| arena.ports.as_ref().unwrap().tcp_called()));

    a_udp_datagram_is_sent => Attack::python(
        "
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'secret', ('127.0.0.1', UDP_PORT))
",
    ).aims(Aim::Seen(|arena| arena.ports.as_ref().unwrap().udp_received()));

    a_udp_datagram_is_sent_over_ipv6 => Attack::python(
        "
import socket
if not UDP_PORT6:
    absent('this machine has no IPv6')
socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b'secret', ('::1', UDP_PORT6))
",
    ).aims(Aim::Seen(|arena| arena.ports.as_ref().unwrap().udp6_received()));

    a_service_is_offered_to_the_host => Attack::python(
        "
import select, socket
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
listener.bind(('127.0.0.1', 0))
listener.listen()
open('offer', 'w').write(str(listener.getsockname()[1]))
answer = os.open('answer', os.O_RDONLY)
ready, _, _ = select.select([listener, answer], [], [])
if listener in ready:
    connection, _ = listener.accept()
    print(connection.recv(100).decode(), flush=True)
else:
    raise ConnectionRefusedError(errno.ECONNREFUSED, 'nobody came')
",
    ).prepared(|arena| {
        arena.accomplice(
            "
import socket
os.mkfifo(WORKSPACE + '/offer', 0o666)
os.mkfifo(WORKSPACE + '/answer', 0o666)
print('up', flush=True)
port = int(open(WORKSPACE + '/offer').read())
answer = os.open(WORKSPACE + '/answer', os.O_WRONLY)
try:
    connection = socket.create_connection(('127.0.0.1', port))
    connection.send(b'won\\n')
    connection.recv(1)
except OSError:
    os.write(answer, b'no')
",
        );
        Ok(())
    });

    a_socket_outside_is_connected_to => Attack::python(
        "
import socket
SOCKETS = [place + 'socket' for place in HIDDEN]
each(lambda path: socket.socket(socket.AF_UNIX).connect(path), SOCKETS)
",
    ).aims(CALLED);

    /// In a directory that commands may read.
    a_socket_of_the_systems_is_connected_to => Attack::root(
        "
import socket
SOCKETS = [place + 'socket' for place in OUTSIDE if place not in HIDDEN]
each(lambda path: socket.socket(socket.AF_UNIX).connect(path), SOCKETS)
",
    ).prepared(|_| crate::readable::sockets_are_kept()).aims(Aim::System(|place| place.was_called()));

    /// By a path of the workspace's.
    a_socket_outside_is_connected_to_through_a_link => Attack::python(
        "
import socket
SOCKETS = [place + 'socket' for place in HIDDEN]
def attack(path):
    os.symlink(path, 'link')
    try:
        socket.socket(socket.AF_UNIX).connect('link')
    finally:
        os.unlink('link')
each(attack, SOCKETS)
",
    ).aims(CALLED);

    a_datagram_is_sent_to_a_socket_outside => Attack::python(
        "
import socket
SOCKETS = [place + 'datagrams' for place in HIDDEN]
each(lambda path: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'secret', path), SOCKETS)
",
    ).aims(Aim::Hidden(|place| place.was_written_to()));

    an_abstract_socket_is_connected_to => Attack::python(
        "
import socket
socket.socket(socket.AF_UNIX).connect('\\0' + ABSTRACT_PORT + '-stream')
",
    ).aims(Aim::Seen(|arena| arena.ports.as_ref().unwrap().abstract_called()));

    a_datagram_is_sent_to_an_abstract_socket => Attack::python(
        "
import socket
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'secret', '\\0' + ABSTRACT_PORT + '-datagrams')
",
    ).aims(Aim::Seen(|arena| arena.ports.as_ref().unwrap().abstract_received()));

    /// To the hypervisor, past every network.
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
    );

    the_interfaces_of_the_host_are_listed => Attack::python(
        "
import socket
names = [name for _, name in socket.if_nameindex() if name != 'lo']
if not names:
    absent('this machine has no interface but the loopback')
if set(names) & set(INTERFACES.split()):
    won()
",
    ).prepared(interfaces).finishes();

    /// `rtnetlink(7)`, by hand.
    the_kernels_routing_is_asked => Attack::python(
        "
import socket
route = socket.socket(16, socket.SOCK_RAW, 0)
route.send(struct.pack('IHHIIB3x', 20, 18, 0x301, 1, 0, 0))
if any(name.encode() + b'\\0' in route.recv(65536) for name in INTERFACES.split()):
    won()
",
    ).prepared(interfaces).finishes();

    /// Hears of devices, and of what the kernel tells the system's managers.
    the_kernels_events_are_listened_to => Attack::python(
        "
import socket
events = socket.socket(16, socket.SOCK_DGRAM, 15)
events.bind((0, 1))
won()
",
    );

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
    );

    a_raw_socket_is_opened => Attack::root(
        "
import socket
socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
won()
",
    );

    the_kernels_ciphers_are_opened => Attack::python(
        "
import socket
try:
    socket.socket(38, socket.SOCK_SEQPACKET)
except OSError as error:
    if error.errno == errno.EAFNOSUPPORT:
        absent('this kernel lends no ciphers (AF_ALG)')
    raise
won()
",
    );

    /// Somebody outside who is in it too passes an open file (`unix(7)`, `SCM_RIGHTS`).
    a_file_is_passed_in_from_outside => Attack::python(
        "
import socket
SOCKET = HIDDEN[0] + 'passing'
connection = socket.socket(socket.AF_UNIX)
connection.connect(SOCKET)
_, fds, _, _ = socket.recv_fds(connection, 1, 1)
print(os.read(fds[0], 200).decode(), flush=True)
",
    ).prepared(|arena| passing(arena, "HIDDEN[0] + 'passing'")).aims(SECRET);

    /// The same, without a path.
    a_file_is_passed_in_by_an_abstract_socket => Attack::python(
        "
import socket
connection = socket.socket(socket.AF_UNIX)
connection.connect('\\0' + UNIQUE)
_, fds, _, _ = socket.recv_fds(connection, 1, 1)
print(os.read(fds[0], 200).decode(), flush=True)
",
    ).prepared(|arena| passing(arena, "'\\0' + UNIQUE")).aims(SECRET);
}

/// Names of the host's interfaces.
fn interfaces(arena: &mut Arena) -> Result<(), String> {
    let names = arena.python(
        "
import socket
print(' '.join(name for _, name in socket.if_nameindex() if name != 'lo'))
",
    );
    if names.is_empty() {
        return Err("this machine has no interface but the loopback".to_owned());
    }
    arena.set("INTERFACES", names);
    Ok(())
}

/// Somebody who gives everybody a secret, already open.
pub(crate) fn passing(arena: &mut Arena, address: &str) -> Result<(), String> {
    arena.accomplice(&format!(
        "
import socket
listener = socket.socket(socket.AF_UNIX)
listener.bind({address})
listener.listen()
print('up', flush=True)
while True:
    connection, _ = listener.accept()
    socket.send_fds(connection, [b'x'], [os.open(SECRETS[0], os.O_RDONLY)])
"
    ));
    Ok(())
}
