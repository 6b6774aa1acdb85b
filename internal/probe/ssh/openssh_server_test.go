package ssh_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstlight/firstlight/internal/site"
)

const (
	sshdProgram = "/usr/sbin/sshd"
	// loginUser and loginID are the user of a test that root runs; it exists in the mount namespace
	// of the test's servers only.
	loginUser = "firstlight-login"
	loginID   = 64917
)

// openssh is OpenSSH's server with a configuration of its own: an unprivileged process per
// connection (sshd -i). Where root runs the test, each has a mount namespace with a user and
// sudoers of its own, so that the machine is not changed.
type openssh struct {
	t *testing.T
	// dir has the files of the server.
	dir  string
	user string
	// namespace is the file of its mount namespace; empty: that of the test.
	namespace string
	// hang makes connections that are accepted from then on answer nothing.
	hang      atomic.Bool
	accepted  atomic.Int32
	listeners []net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool
	wg    sync.WaitGroup
}

// needSSHD skips a test where OpenSSH's server cannot be run.
func needSSHD(t *testing.T) {
	t.Helper()
	for _, program := range []string{sshdProgram, "ssh-keygen", "ssh-agent", "ssh-add"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs OpenSSH (%s): apt-get install openssh-server openssh-client", program)
		}
	}
	if os.Getuid() != 0 {
		return
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", "--mount", "--propagation", "private", "true").CombinedOutput(); err != nil {
		t.Skipf("root needs a mount namespace to run OpenSSH's server as another user: unshare --mount: %v %s", err, out)
	}
}

// newOpenSSH starts a server on a loopback address; extra are lines of its sshd_config.
func newOpenSSH(t *testing.T, extra ...string) *openssh {
	t.Helper()
	needSSHD(t)
	s := &openssh{t: t, dir: t.TempDir(), user: loginUser, conns: map[net.Conn]bool{}}
	if os.Getuid() != 0 {
		u, err := user.Current()
		if err != nil {
			t.Fatal(err)
		}
		s.user = u.Username
	}
	keygen(t, s.file("host_key"), "ed25519", "")
	write(t, s.file("authorized_keys"), nil)
	write(t, s.file("user_ca.pub"), nil)
	if err := os.MkdirAll(s.file("sudoers.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, s.file("sshd_config"), []byte(strings.Join(append(extra,
		"HostKey "+s.file("host_key"), "AuthorizedKeysFile "+s.file("authorized_keys"), "TrustedUserCAKeys "+s.file("user_ca.pub"),
		"PidFile none", "StrictModes no", "UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "LogLevel VERBOSE",
	), "\n")+"\n"))
	if os.Getuid() == 0 {
		s.isolate()
	}
	s.share()
	t.Cleanup(s.stop)
	return s
}

func (s *openssh) file(name string) string { return filepath.Join(s.dir, name) }

// argv starts one process for the connection on standard input. Where root runs the test, it
// enters a mount namespace with the user and the sudoers of the server.
func (s *openssh) argv() []string {
	argv := []string{sshdProgram, "-i", "-e", "-f", s.file("sshd_config")}
	if s.namespace == "" {
		return argv
	}
	id := strconv.Itoa(loginID)
	return append([]string{"nsenter", "--mount=" + s.namespace, "--setuid=" + id, "--setgid=" + id}, argv...)
}

// isolate makes the mount namespace. Its process ends with its standard input.
func (s *openssh) isolate() {
	s.t.Helper()
	passwd, err := os.ReadFile("/etc/passwd")
	if err != nil {
		s.t.Fatal(err)
	}
	line := fmt.Sprintf("%s:*:%d:%d::%s:/bin/sh\n", loginUser, loginID, loginID, s.dir)
	if err := os.WriteFile(s.file("passwd"), append(passwd, line...), 0o644); err != nil {
		s.t.Fatal(err)
	}
	script := fmt.Sprintf("set -e\nmount --bind %s /etc/passwd\n", s.file("passwd"))
	if _, err := os.Stat("/etc/sudoers.d"); err == nil {
		script += fmt.Sprintf("mount --bind %s /etc/sudoers.d\n", s.file("sudoers.d"))
	}
	cmd := exec.Command("unshare", "--mount", "--propagation", "private", "sh", "-c", script+"echo ready; read end")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	if ready, err := bufio.NewReader(out).ReadString('\n'); err != nil || ready != "ready\n" {
		s.t.Fatalf("make a mount namespace: %q, %v", ready, err)
	}
	s.namespace = fmt.Sprintf("/proc/%d/ns/mnt", cmd.Process.Pid)
}

// share makes the files readable by the user of the server, where root runs the test.
func (s *openssh) share() {
	s.t.Helper()
	if os.Getuid() != 0 {
		return
	}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == "passwd" {
			return err
		}
		if d.Name() == "sudoers.d" {
			return fs.SkipDir // sudo wants root's
		}
		return os.Lchown(path, loginID, loginID)
	})
	if err == nil {
		err = os.Chmod(filepath.Dir(s.dir), 0o711)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// listen serves an address, and returns it with its port.
func (s *openssh) listen(address string) string {
	s.t.Helper()
	l, err := (&net.ListenConfig{}).Listen(s.t.Context(), "tcp", address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, l)
	s.wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.accepted.Add(1)
			s.mu.Lock()
			s.conns[conn] = true
			s.mu.Unlock()
			if !s.hang.Load() {
				s.wg.Go(func() { s.serve(conn.(*net.TCPConn)) })
			}
		}
	})
	return l.Addr().String()
}

// serve runs sshd for one connection.
func (s *openssh) serve(conn *net.TCPConn) {
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, conn)
	}()
	defer func() { _ = conn.Close() }()
	file, err := conn.File()
	if err != nil {
		return
	}
	defer file.Close()
	argv := s.argv()
	cmd := exec.Command(argv[0], argv[1:]...)
	log := &bytes.Buffer{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = file, file, log
	err = cmd.Run()
	if s.t.Failed() {
		s.t.Logf("sshd: %v\n%s", err, log)
	}
}

// hangUp ends every connection.
func (s *openssh) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
			_ = tcp.CloseRead() // of the socket, which sshd has too
		}
		_ = c.Close()
	}
}

func (s *openssh) stop() {
	s.mu.Lock()
	for _, l := range s.listeners {
		_ = l.Close()
	}
	s.mu.Unlock()
	s.hangUp()
	s.wg.Wait()
}

// allow lets the owner of a public key file log in.
func (s *openssh) allow(public string) {
	s.t.Helper()
	data, err := os.ReadFile(public)
	if err != nil {
		s.t.Fatal(err)
	}
	write(s.t, s.file("authorized_keys"), data)
	s.share()
}

// known is the known_hosts line of an address.
func (s *openssh) known(address string) string {
	s.t.Helper()
	data, err := os.ReadFile(s.file("host_key.pub"))
	if err != nil {
		s.t.Fatal(err)
	}
	return bracketed(s.t, address) + " " + string(data)
}

func bracketed(t *testing.T, address string) string {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	return "[" + host + "]:" + port
}

// keygen makes a key with ssh-keygen.
func keygen(t *testing.T, file, kind, passphrase string) {
	t.Helper()
	tool(t, "ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", filepath.Base(file), "-f", file)
}

// tool runs a program of OpenSSH and returns its output.
func tool(t *testing.T, argv ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, out)
	}
	return string(out)
}

// opensshSite is a server with a host gpu-01, a key that it lets in, and the site.
func opensshSite(t *testing.T, extra ...string) (*openssh, *site.Site) {
	t.Helper()
	s := newOpenSSH(t, extra...)
	address := s.listen("127.0.0.1:0")
	dir := t.TempDir()
	id, known := filepath.Join(dir, "id"), filepath.Join(dir, "known_hosts")
	keygen(t, id, "ed25519", "")
	s.allow(id + ".pub")
	write(t, known, []byte(s.known(address)))
	return s, &site.Site{
		Reach: site.Reach{SSH: site.SSH{
			User: s.user, IdentityFile: id, KnownHostsFile: known, Concurrency: 4,
			ConnectTimeout: site.Duration(loaded), Timeout: site.Duration(2 * loaded),
		}},
		Inventory: site.Inventory{Nodes: []site.Node{{Name: "gpu-01", Address: address}}},
	}
}

// agentWith starts ssh-agent with keys of files, and returns its socket.
func agentWith(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "agent") //nolint:usetesting // the path of a socket is limited to 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	cmd := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for _, file := range files {
		eventually(t, "ssh-add "+file, func() error {
			add := exec.CommandContext(t.Context(), "ssh-add", "-q", file)
			add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+socket)
			out, err := add.CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		})
	}
	eventually(t, "ssh-agent", func() error {
		_, err := os.Stat(socket)
		return err
	})
	return socket
}

// loaded is a deadline for three logins, one through another, each with a new sshd: with 45 processes
// running on two cores they took 45 s, and failed at 60 s.
const loaded = 4 * time.Minute

func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	deadline := time.Now().Add(2 * loaded)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	err := f()
	for ; err != nil; err = f() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		<-tick.C
	}
}

// fingerprintOf is the SHA256 fingerprint of a key file, by ssh-keygen.
func fingerprintOf(t *testing.T, file string) string {
	t.Helper()
	return strings.Fields(tool(t, "ssh-keygen", "-l", "-f", file))[1]
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := strconv.Atoi(port); err != nil {
		t.Fatal(err)
	}
	return port
}
