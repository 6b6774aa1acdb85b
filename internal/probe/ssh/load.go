package ssh

import (
	"context"
	"time"

	"golang.org/x/crypto/ssh"
)

type loadKey struct{}

// WithLoad marks the commands of ctx as a load on their host, such as a diagnostic. Such a command has at least atLeast,
// and ends with its session: at its timeout, at the end of ctx, and when this program or its connection ends. Its
// standard error may be in its standard output.
func WithLoad(ctx context.Context, atLeast time.Duration) context.Context {
	return context.WithValue(ctx, loadKey{}, atLeast)
}

// Loads reports whether commands of ctx are a load: see WithLoad.
func Loads(ctx context.Context) bool {
	_, ok := ctx.Value(loadKey{}).(time.Duration)
	return ok
}

type withinKey struct{}

// Within limits each command of ctx to atMost, without the wait for a slot.
func Within(ctx context.Context, atMost time.Duration) context.Context {
	return context.WithValue(ctx, withinKey{}, atMost)
}

// Limit is the timeout of a command where other commands have timeout: see WithLoad and Within.
func Limit(ctx context.Context, timeout time.Duration) time.Duration {
	if atMost, ok := ctx.Value(withinKey{}).(time.Duration); ok {
		timeout = min(timeout, atMost)
	}
	atLeast, _ := ctx.Value(loadKey{}).(time.Duration)
	return max(timeout, atLeast)
}

// Size of a terminal that no program reads.
const (
	terminalRows    = 24
	terminalColumns = 80
)

// attach gives a session a terminal, if the host allows it. When the session ends, the kernel of the host sends SIGHUP
// to all processes of the terminal, of any user: sshd refuses signals for sessions of root, and the login
// user may not send one to a process that sudo started.
func attach(session *ssh.Session) {
	_ = session.RequestPty("dumb", terminalRows, terminalColumns, ssh.TerminalModes{ssh.ECHO: 0, ssh.OPOST: 0, ssh.ONLCR: 0}) // without one the command runs too
}
