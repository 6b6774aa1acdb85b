// Package opensshtest runs OpenSSH's server for tests, with a configuration and a user of its own.
package opensshtest

import (
	"bufio"
	"bytes"
	"context"
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
	"syscall"
	"testing"
)

const (
	sshdProgram = "/usr/sbin/sshd"
	// loginUser and loginID are the user of a test that root runs; it exists in the mount namespace
	// of the test's servers only.
	loginUser = "firstlight-login"
	loginID   = 64917
)

// Server is OpenSSH's server with a configuration of its own: an unprivileged process per
// connection (sshd -i). Where root runs the test, each has a mount namespace with a user and
// sudoers of its own, so that the machine is not changed.
type Server struct {
	t *testing.T
	// Dir has the files of the server.
	Dir  string
	User string
	// namespace is the file of its mount namespace; empty: that of the test.
	namespace string
	// asRoot: sshd is root's, as on a host.
	asRoot bool
	// Hang makes connections that are accepted from then on answer nothing.
	Hang      atomic.Bool
	Accepted  atomic.Int32
	listeners []net.Listener

	mu    sync.Mutex
	conns map[net.Conn]bool
	// groups are the process groups of sshd.
	groups map[int]bool
	wg     sync.WaitGroup
}

// Need skips a test where OpenSSH's server cannot be run.
func Need(t *testing.T) {
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
		t.Skipf("root needs a mount namespace to run OpenSSH's server as another User: unshare --mount: %v %s", err, out)
	}
}

// Start starts a server on a loopback address; extra are lines of its sshd_config.
func Start(t *testing.T, extra ...string) *Server {
	t.Helper()
	return start(t, false, extra)
}

// StartAsRoot is Start with an sshd of root, which only root can run: no other gives sessions a terminal.
func StartAsRoot(t *testing.T, extra ...string) *Server {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to run OpenSSH's server as root in a mount namespace")
	}
	return start(t, true, extra)
}

func start(t *testing.T, asRoot bool, extra []string) *Server {
	t.Helper()
	Need(t)
	s := &Server{t: t, Dir: t.TempDir(), User: loginUser, conns: map[net.Conn]bool{}, groups: map[int]bool{}, asRoot: asRoot}
	if os.Getuid() != 0 {
		u, err := user.Current()
		if err != nil {
			t.Fatal(err)
		}
		s.User = u.Username
	}
	Keygen(t, s.File("host_key"), "ed25519", "")
	write(t, s.File("authorized_keys"), nil)
	write(t, s.File("user_ca.pub"), nil)
	if err := os.MkdirAll(s.File("sudoers.d"), 0o750); err != nil {
		t.Fatal(err)
	}
	write(t, s.File("sshd_config"), []byte(strings.Join(append(extra,
		"HostKey "+s.File("host_key"), "AuthorizedKeysFile "+s.File("authorized_keys"), "TrustedUserCAKeys "+s.File("user_ca.pub"),
		"PidFile none", "StrictModes no", "UsePAM no", "PasswordAuthentication no", "KbdInteractiveAuthentication no", "LogLevel VERBOSE",
	), "\n")+"\n"))
	if os.Getuid() == 0 {
		s.isolate()
	}
	s.Share()
	t.Cleanup(s.Stop)
	return s
}

// Silent is a server that answers nothing.
func Silent(t *testing.T) *Server {
	t.Helper()
	s := &Server{t: t, conns: map[net.Conn]bool{}, groups: map[int]bool{}}
	s.Hang.Store(true)
	t.Cleanup(s.Stop)
	return s
}

// File is the path of one of the server's files.
func (s *Server) File(name string) string { return filepath.Join(s.Dir, name) }

// argv starts one process for the connection on standard input. Where root runs the test, it
// enters a mount namespace with the user and the sudoers of the server.
func (s *Server) argv() []string {
	argv := []string{sshdProgram, "-i", "-e", "-f", s.File("sshd_config")}
	if s.namespace == "" {
		return argv
	}
	enter := []string{"nsenter", "--mount=" + s.namespace}
	if id := strconv.Itoa(loginID); !s.asRoot {
		enter = append(enter, "--setuid="+id, "--setgid="+id)
	}
	return append(enter, argv...)
}

// isolate makes the mount namespace. Its process ends with its standard input.
func (s *Server) isolate() {
	s.t.Helper()
	passwd, err := os.ReadFile("/etc/passwd")
	if err != nil {
		s.t.Fatal(err)
	}
	line := fmt.Sprintf("%s:*:%d:%d::%s:/bin/sh\n", loginUser, loginID, loginID, s.Dir)
	if err := os.WriteFile(s.File("passwd"), append(passwd, line...), 0o644); err != nil { //nolint:gosec // every user reads it
		s.t.Fatal(err)
	}
	script := fmt.Sprintf("set -e\nmount --bind %s /etc/passwd\n", s.File("passwd"))
	if _, err := os.Stat("/etc/sudoers.d"); err == nil {
		script += fmt.Sprintf("mount --bind %s /etc/sudoers.d\n", s.File("sudoers.d"))
	}
	if s.asRoot { // the directory that sshd enters, and none of the machine's records of logins
		script += "mount -t tmpfs tmpfs /run\nmkdir /run/sshd\nmount -t tmpfs tmpfs /var/log\n"
	}
	cmd := exec.CommandContext(context.WithoutCancel(s.t.Context()), "unshare", "--mount", "--propagation", "private", "sh", "-c", script+"echo ready; read end")
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

// Share makes the files readable by the user of the server, where root runs the test.
func (s *Server) Share() {
	s.t.Helper()
	if os.Getuid() != 0 {
		return
	}
	err := filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == "passwd" {
			return err
		}
		if d.Name() == "sudoers.d" {
			return fs.SkipDir // sudo wants root's
		}
		return os.Lchown(path, loginID, loginID)
	})
	if err == nil {
		err = os.Chmod(filepath.Dir(s.Dir), 0o711) //nolint:gosec // the server's user enters it
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// Listen serves an address, and returns it with its port.
func (s *Server) Listen(address string) string {
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
			s.Accepted.Add(1)
			s.mu.Lock()
			s.conns[conn] = true
			s.mu.Unlock()
			if !s.Hang.Load() {
				s.wg.Go(func() { s.serve(conn.(*net.TCPConn)) })
			}
		}
	})
	return l.Addr().String()
}

// serve runs sshd for one connection.
func (s *Server) serve(conn *net.TCPConn) {
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
	cmd := exec.CommandContext(context.WithoutCancel(s.t.Context()), argv[0], argv[1:]...) // Stop ends it with its connection
	log := &bytes.Buffer{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = file, file, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err = cmd.Start(); err == nil {
		s.mu.Lock()
		s.groups[cmd.Process.Pid] = true
		s.mu.Unlock()
		err = cmd.Wait()
		s.mu.Lock()
		delete(s.groups, cmd.Process.Pid)
		s.mu.Unlock()
	}
	if s.t.Failed() {
		s.t.Logf("sshd: %v\n%s", err, log)
	}
}

// Freeze stops the processes of every connection until Stop, as those of a host that no longer answers.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

func (s *Server) signal(sig syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for group := range s.groups {
		_ = syscall.Kill(-group, sig) // one that has ended has no group
	}
}

// HangUp ends every connection.
func (s *Server) HangUp() {
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

// Stop ends the server and its connections.
func (s *Server) Stop() {
	s.mu.Lock()
	for _, l := range s.listeners {
		_ = l.Close()
	}
	s.mu.Unlock()
	s.signal(syscall.SIGCONT)
	s.HangUp()
	s.wg.Wait()
}

// Allow lets the owner of a public key file log in.
func (s *Server) Allow(public string) {
	s.t.Helper()
	data, err := os.ReadFile(public)
	if err != nil {
		s.t.Fatal(err)
	}
	write(s.t, s.File("authorized_keys"), data)
	s.Share()
}

// Known is the known_hosts line of an address.
func (s *Server) Known(address string) string {
	s.t.Helper()
	data, err := os.ReadFile(s.File("host_key.pub"))
	if err != nil {
		s.t.Fatal(err)
	}
	return Bracketed(s.t, address) + " " + string(data)
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
