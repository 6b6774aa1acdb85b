package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/firstlight/firstlight/internal/probe/logline"
	"github.com/firstlight/firstlight/internal/probe/sudo"
)

// Output is the result of a command. A non-zero exit code is not an error.
type Output struct {
	Stdout, Stderr []byte
	Exit           int
	At             time.Time
	Took           time.Duration
	// Origin is where the command ran: OnHost, or a pod with its container and image.
	Origin string
}

// OnHost is the origin of a command that ran on the host that it was meant for.
const OnHost = "host over SSH"

// MaxOutput is the longest output of each stream in bytes: the longest log, as srun prints that of a collective, about
// 30 KB a GPU.
const MaxOutput = logline.MaxBytes

// ErrTooMuchOutput is returned for a command that prints more than MaxOutput.
var ErrTooMuchOutput = errors.New("the command printed more than 256 MiB")

// endGrace is the time between SIGTERM and the closing of the connection.
const endGrace = 5 * time.Second

// Run runs a command on a host and waits for it. The timeout of the site, or that of WithLoad, applies
// to the command with the login, not to the wait for a slot. A command that sudo does not run is an
// error of type sudo.RefusedError.
func (p *Pool) Run(ctx context.Context, host string, argv ...string) (Output, error) {
	out, err := p.run(ctx, host, argv)
	command, becomes := sudo.Command(argv)
	if err != nil || !becomes || !sudo.MayBeRefused(out.Exit) {
		return out, err
	}
	listed, err := p.run(ctx, host, sudo.List(command))
	if err != nil {
		return out, err
	}
	said := out.Stderr
	if Loads(ctx) { // on a terminal
		said = slices.Concat(out.Stderr, out.Stdout)
	}
	return out, sudo.Refusal(host, p.hosts[host].user, command, out.Exit, said, listed.Exit)
}

func (p *Pool) run(ctx context.Context, host string, argv []string) (Output, error) {
	if len(argv) == 0 {
		return Output{}, fmt.Errorf("run on %s: command is empty", host)
	}
	c, err := p.connection(host)
	if err != nil {
		return Output{}, err
	}
	leave, err := p.enter(ctx, c)
	if err != nil {
		return Output{}, fmt.Errorf("wait to run %s on %s: %w", argv[0], host, err)
	}
	defer leave()
	defer p.use(c)()
	ctx, cancel := context.WithTimeout(ctx, Limit(ctx, p.timeout))
	defer cancel()
	out := Output{At: time.Now(), Origin: OnHost}
	session, client, err := p.session(ctx, c, host)
	if err != nil {
		return out, err
	}
	defer session.Close() //nolint:errcheck // already closed at the end of the command
	stdout, stderr := &Buffer{}, &Buffer{}
	session.Stdout, session.Stderr = stdout, stderr
	line := Quote(argv)
	ended := make(chan error, 1)
	go func() {
		if Loads(ctx) {
			attach(session) // waits for an answer, which a host that hangs does not send
		}
		ended <- session.Run(line)
	}()
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = ctx.Err()
		c.end(session, client, ended)
	}
	out.Took = time.Since(out.At)
	out.Stdout, out.Stderr = stdout.Bytes(), stderr.Bytes()
	if exited, ok := errors.AsType[*ssh.ExitError](err); ok {
		out.Exit, err = exited.ExitStatus(), nil
	}
	switch {
	case err != nil:
		return out, fmt.Errorf("run %s on %s: %w", line, host, err)
	case stdout.Over || stderr.Over:
		return out, fmt.Errorf("run %s on %s: %w", line, host, ErrTooMuchOutput)
	default:
		return out, nil
	}
}

// end stops a command after its timeout. If the host does not respond, it closes the
// connection, so that later commands do not wait for it.
func (c *connection) end(session *ssh.Session, client *ssh.Client, ended <-chan error) {
	_ = session.Signal(ssh.SIGTERM) // many servers ignore signals; Close ends a command with a terminal: see WithLoad
	_ = session.Close()
	grace := time.NewTimer(endGrace)
	defer grace.Stop()
	select {
	case <-ended:
	case <-grace.C:
		c.drop(client)
		<-ended
	}
}

// Buffer keeps the first MaxOutput bytes of an output.
type Buffer struct {
	buf bytes.Buffer
	// Over: there was more.
	Over bool
}

// Write implements io.Writer; it never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	keep := p
	if room := MaxOutput - b.buf.Len(); len(p) > room {
		keep, b.Over = p[:room], true
	}
	b.buf.Write(keep)
	return len(p), nil
}

// Bytes are the kept bytes.
func (b *Buffer) Bytes() []byte { return b.buf.Bytes() }

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// Quote joins argv to one line that a POSIX shell splits into the same words.
func Quote(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = word
		if !plainWord.MatchString(word) {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// separator is between the commands of a shell script of this repository.
var separator = regexp.MustCompile(`;|&&|\|\|`)

// Programs are the programs that argv runs, without echo: its first word, or the first word of
// each command of sh -c.
func Programs(argv []string) []string {
	if len(argv) == 0 {
		return nil
	}
	if len(argv) != 3 || argv[0] != "sh" || argv[1] != "-c" {
		return []string{argv[0]}
	}
	var out []string
	for _, command := range separator.Split(argv[2], -1) {
		words := strings.Fields(command)
		if len(words) > 0 && words[0] != "echo" && !slices.Contains(out, words[0]) {
			out = append(out, words[0])
		}
	}
	return out
}
