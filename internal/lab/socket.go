package lab

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
)

const socketName = "control.sock"

// throughDir calls f with a short path of the socket: a Unix socket address has at most about 100
// bytes.
func throughDir(dir string, f func(path string) error) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open the lab's directory: %w", err)
	}
	defer d.Close()
	return f(fmt.Sprintf("/proc/self/fd/%d/%s", d.Fd(), socketName))
}

// listenControl creates the control socket with mode 0600. The caller holds the directory's lock,
// so an existing socket belongs to a dead lab.
func listenControl(dir string) (net.Listener, error) {
	path := filepath.Join(dir, socketName)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("replace the control socket: %w", err)
	}
	var l *net.UnixListener
	err := throughDir(dir, func(short string) (err error) {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("make the control socket: %w", err)
	}
	l.SetUnlinkOnClose(false) // its short path is no longer valid
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("make the control socket: %w", err), l.Close())
	}
	return l, nil
}

// controlClient returns a client for the supervisor of the lab in dir.
func controlClient(dir string) *http.Client {
	dialer := &net.Dialer{Timeout: answerTimeout}
	// The socket is local: an idle connection saves nothing and would reach a later lab.
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (conn net.Conn, err error) {
			err = throughDir(dir, func(short string) (err error) {
				conn, err = dialer.DialContext(ctx, "unix", short)
				return err
			})
			return conn, err
		},
	}}
}
