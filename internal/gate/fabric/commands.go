package fabric

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/firstlight/firstlight/internal/probe/ibdiagnet"
	"github.com/firstlight/firstlight/internal/probe/iblinkinfo"
	"github.com/firstlight/firstlight/internal/probe/ibqueryerrors"
	"github.com/firstlight/firstlight/internal/probe/ibstat"
	"github.com/firstlight/firstlight/internal/probe/sminfo"
	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// parser makes figures of a command's output. An exit code of 0 proves nothing,
// but one that the tool has no reason for says that something is missing.
type parser func(ssh.Output) (any, error)

func subnetManager(out ssh.Output) (any, error) {
	info, err := sminfo.Parse(append(append([]byte(nil), out.Stdout...), out.Stderr...))
	if err == nil && info.Answered {
		err = whole(out, out.Exit == 0)
	}
	return info, err
}

// counters exits 1 when a port has errors. Queries that failed are judged.
func counters(out ssh.Output) (any, error) {
	r, err := ibqueryerrors.Parse(out.Stdout)
	if err == nil && r.QueryFailures == 0 {
		if len(r.Warnings) > 0 {
			return nil, fmt.Errorf("nodes may be missing: %.200s", r.Warnings[0])
		}
		err = whole(out, out.Exit == 0 || out.Exit == 1 && len(r.Ports) > 0)
	}
	return r, err
}

func links(out ssh.Output) (any, error) {
	ports, err := iblinkinfo.Parse(out.Stdout)
	if err == nil {
		err = whole(out, out.Exit == 0)
	}
	return ports, err
}

// diag may exit with any code when a stage has errors: they are judged.
func diag(out ssh.Output) (any, error) {
	r, err := ibdiagnet.Parse(out.Stdout)
	if err == nil && !slices.ContainsFunc(r.Stages, func(s ibdiagnet.Stage) bool { return s.Errors > 0 }) {
		err = whole(out, out.Exit == 0)
	}
	return r, err
}

func ports(out ssh.Output) (any, error) {
	adapters, err := ibstat.Parse(out.Stdout)
	if err == nil {
		err = whole(out, out.Exit == 0)
	}
	return adapters, err
}

// complaint is how the tools and the libraries below them say on stderr that
// something did not answer. What else is there is of the shell or of SSH.
var complaint = regexp.MustCompile(`ibwarn:|ibpanic:|iberror:|mad_rpc|bad status|timed out`)

// whole is nil when the tool saw all that there is: its exit code is one that
// it has a reason for, and it complains of nothing.
func whole(out ssh.Output, exit bool) error {
	for line := range bytes.Lines(out.Stderr) {
		if complaint.Match(line) {
			return fmt.Errorf("something did not answer, so the output may not be whole: %.200s", bytes.TrimSpace(line))
		}
	}
	if !exit {
		return errors.New("the tool failed, so the output may not be whole")
	}
	return nil
}
