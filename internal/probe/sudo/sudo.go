// Package sudo runs commands of probes as root on hosts where the login user is not root: the
// command line, the reason of a refusal, and the sudoers file that allows exactly these commands.
package sudo

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/site"
)

// prefix never prompts (-n) and takes what follows as the command (--).
var prefix = []string{"sudo", "-n", "--"}

// Argv is argv as the login user runs it if it needs root: with sudo if the site has become.
func Argv(reach site.SSH, argv []string) []string {
	if reach.Become != site.Sudo {
		return argv
	}
	return append(slices.Clone(prefix), argv...)
}

// Command is the command that argv runs with sudo; false if argv does not run sudo.
func Command(argv []string) ([]string, bool) {
	if len(argv) <= len(prefix) || !slices.Equal(argv[:len(prefix)], prefix) {
		return nil, false
	}
	return argv[len(prefix):], true
}

// listPrefix only lists (-l).
var listPrefix = []string{"sudo", "-n", "-l", "--"}

// List asks sudo whether it allows a command, without running it: exit code 0 if it does.
func List(command []string) []string { return append(slices.Clone(listPrefix), command...) }

// Listed is the command that argv asks sudo about; false if argv is not that of List.
func Listed(argv []string) ([]string, bool) {
	if len(argv) <= len(listPrefix) || !slices.Equal(argv[:len(listPrefix)], listPrefix) {
		return nil, false
	}
	return argv[len(listPrefix):], true
}

// Exit codes of a command that did not run.
const (
	refusedExit  = 1   // sudo refuses, or the command itself exits 1
	notFoundExit = 127 // the shell does not find sudo
)

// MayBeRefused reports whether the exit code of a command with sudo can be that of sudo itself.
func MayBeRefused(exit int) bool { return exit == refusedExit || exit == notFoundExit }

// Cause is why sudo did not run a command.
type Cause int

// The causes of a refusal, by what has to be changed on the host.
const (
	NoRule         Cause = iota // the user may not run it, or only with a password
	NeedsTerminal               // sudoers has requiretty
	MissingProgram              // sudo does not find the program
	MissingSudo
)

// RefusedError is a command that sudo did not run.
type RefusedError struct {
	// Host is empty where the command was only listed.
	Host, User string
	Command    []string
	Cause      Cause
	// Reason is sudo's message.
	Reason string
	remedy string
}

func (e *RefusedError) Error() string {
	on := ""
	if e.Host != "" {
		on = " on " + e.Host
	}
	return fmt.Sprintf("sudo%s did not run %q as user %s: %s: %s", on, strings.Join(e.Command, " "), e.User, e.Reason, e.remedy)
}

// Remedy is what to do on the host.
func (e *RefusedError) Remedy() string { return e.remedy }

// Messages that a listing does not show: a command that is allowed only with a password, or only on a terminal. The
// second about passwords is that of sudo-rs, the third that of sudo without -n.
var (
	needsPassword = []string{"a password is required", "interactive authentication is required", "a terminal is required to read the password"}
	needsTerminal = []string{"sorry, you must have a tty to run sudo"}
)

// missing are the messages of sudo and of sudo-rs about a program that they do not find.
func missing(program string) []string {
	return []string{program + ": command not found", "'" + program + "': command not found"}
}

// says reports whether sudo printed a message. Lines without the name of sudo or sudo-rs at the beginning are the
// command's own.
func says(stderr []byte, messages []string) bool {
	for line := range bytes.Lines(stderr) {
		name, text, _ := bytes.Cut(line, []byte(": "))
		if n := string(name); (n == "sudo" || n == "sudo-rs") && slices.ContainsFunc(messages, func(m string) bool { return bytes.HasPrefix(text, []byte(m)) }) {
			return true
		}
	}
	return false
}

// Refusal returns the refusal of a command with sudo that exited with a code of MayBeRefused;
// nil if the command itself has exited so. listed is the exit code of List.
func Refusal(host, user string, command []string, exit int, stderr []byte, listed int) error {
	e := &RefusedError{Host: host, User: user, Command: command, Reason: reason(stderr)}
	switch {
	case exit == notFoundExit && bytes.Contains(stderr, []byte("not found")) && bytes.Contains(stderr, []byte("sudo")):
		e.Cause, e.remedy = MissingSudo, "install sudo on the host"
	case exit != refusedExit:
		return nil
	case says(stderr, missing(command[0])):
		e.Cause, e.remedy = MissingProgram, "install it on the host, in a directory of sudo's secure_path"
	case says(stderr, needsTerminal):
		if err := CheckUser(user); err != nil {
			e.Cause, e.remedy = NeedsTerminal, err.Error()
			break
		}
		e.Cause, e.remedy = NeedsTerminal, "add this line to the sudoers of the host: Defaults:"+user+" !requiretty (firstlight runs commands without a terminal)"
	case listed != 0, says(stderr, needsPassword):
		line, err := Rule(user, command, nil)
		if err != nil {
			line = err.Error()
		}
		e.remedy = "add this line to the sudoers of the host: " + line + " (firstlight accept sudoers prints the lines of all commands)"
	default:
		return nil
	}
	return e
}

// reason is the last line of sudo: warnings about the host's name precede it.
func reason(stderr []byte) string {
	lines := bytes.Split(bytes.TrimSpace(stderr), []byte("\n"))
	if last := bytes.TrimSpace(lines[len(lines)-1]); len(last) > 0 {
		return fmt.Sprintf("%.200s", last)
	}
	return "it printed no reason"
}
