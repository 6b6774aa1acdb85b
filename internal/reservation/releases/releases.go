// Package releases says which releases there are of what the nightly batch tests: the tags
// that a command prints, or a file has.
package releases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/floors"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/registry"
)

// Within is how long the command has.
const Within = 2 * time.Minute

// ErrNone says that there are no tags at all: a list that came empty is not believed.
var ErrNone = errors.New("there are no tags")

// Source is a batch.yaml, and where it is: its paths are relative to it.
type Source struct {
	Config *matrix.Config
	Path   string
}

func (s Source) dir() string { return filepath.Dir(s.Path) }

// Tags are those that there are, unsorted; none where the file names no source of any.
func (s Source) Tags(ctx context.Context) ([]string, error) {
	r := s.Config.Releases
	var raw []byte
	var err error
	switch {
	case len(r.Command) > 0:
		raw, err = s.run(ctx, r.Command)
	case r.File != "":
		raw, err = os.ReadFile(under(s.dir(), r.File))
	default:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("see which releases there are: %w", err)
	}
	tags := strings.Fields(string(raw))
	if len(tags) == 0 {
		return nil, fmt.Errorf("see which releases there are: %w", ErrNone)
	}
	return tags, nil
}

func under(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// run answers what a command prints. All that it started ends with it.
func (s Source) run(ctx context.Context, argv []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Within)
	defer cancel()
	var out, log bytes.Buffer
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir(), &out, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("%s: %w%s", argv[0], err, lastLine(log.String()))
	}
	return out.Bytes(), nil
}

func lastLine(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return ": " + last
	}
	return ""
}

// Lane is what a night runs on one reservation.
func (s Source) Lane(ctx context.Context, row registry.Reservation) (matrix.Lane, error) {
	tags, err := s.Tags(ctx)
	if err != nil {
		return matrix.Lane{}, err
	}
	return s.LaneOf(row, tags)
}

// LaneOf is Lane with the tags that there are.
func (s Source) LaneOf(row registry.Reservation, tags []string) (matrix.Lane, error) {
	versions, err := matrix.Versions(s.Config, tags)
	if err != nil {
		return matrix.Lane{}, err //nolint:wrapcheck // says what it was doing
	}
	f := matrix.Floors{Tags: tags}
	if s.Config.Compat != "" {
		if f.Floors, err = floors.Load(under(s.dir(), s.Config.Compat)); err != nil {
			return matrix.Lane{}, err //nolint:wrapcheck // names the file
		}
	}
	return matrix.Cells(row, versions, f) //nolint:wrapcheck // says what it was doing
}
