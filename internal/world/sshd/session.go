package sshd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gliderlabs/ssh"
	"golang.org/x/term"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/host"
)

// session runs the command of a login, or reads command lines.
func (s *Server) session(sess ssh.Session, node string) {
	if command := sess.RawCommand(); command != "" {
		_ = sess.Exit(s.run(sess.Context(), node, command, sess, sess.Stderr())) // the client may have disconnected
		return
	}
	_, _, isTerminal := sess.Pty()
	next := lineReader(sess, node, isTerminal)
	last := 0
	for {
		line, err := next()
		if err != nil {
			break
		}
		if line == "exit" || line == "logout" {
			break
		}
		var out io.Writer = sess
		if isTerminal {
			out = crlf{sess}
		}
		last = s.run(sess.Context(), node, line, out, out)
	}
	_ = sess.Exit(last)
}

// run runs a command line on the host that responds at a node's address.
func (s *Server) run(ctx context.Context, node, line string, stdout, stderr io.Writer) int {
	return host.Shell(ctx, s.world, func() string { return login(s.world.Recent(), node) }, line, stdout, stderr, host.Run)
}

// login returns the host that responds at a node's address.
func login(state world.State, node string) string {
	if n, ok := state.Node(node); ok && n.LoginTo != "" {
		return n.LoginTo
	}
	return node
}

// lineReader reads command lines; a terminal has a prompt and editing.
func lineReader(sess ssh.Session, node string, isTerminal bool) func() (string, error) {
	if isTerminal {
		return term.NewTerminal(sess, node+":~$ ").ReadLine
	}
	scanner := bufio.NewScanner(sess)
	return func() (string, error) {
		if scanner.Scan() {
			return scanner.Text(), nil
		}
		return "", errors.Join(scanner.Err(), io.EOF)
	}
}

// crlf converts line ends for a raw terminal.
type crlf struct{ w io.Writer }

func (c crlf) Write(p []byte) (int, error) {
	buf := make([]byte, 0, len(p)+16)
	for _, b := range p {
		if b == '\n' {
			buf = append(buf, '\r')
		}
		buf = append(buf, b)
	}
	if _, err := c.w.Write(buf); err != nil {
		return 0, fmt.Errorf("write to terminal: %w", err)
	}
	return len(p), nil
}
