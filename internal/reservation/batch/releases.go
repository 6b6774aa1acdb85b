package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/matrix"
	"github.com/firstlight/firstlight/internal/reservation/yamlfile"
)

const (
	// askWithin is how long a command has to say which releases there are.
	askWithin = 2 * time.Minute
	// endWithin is how long what it has started may keep its output open after that.
	endWithin = 5 * time.Second
)

// tags are those that a command or a file says, one a line.
func tags(ctx context.Context, from matrix.Releases, dir string) ([]string, error) {
	if len(from.Command) > 0 {
		data, err := ask(ctx, from.Command, dir)
		if err != nil {
			return nil, err
		}
		return ParseTags(command(from.Command), data)
	}
	path := within(dir, from.File)
	data, err := yamlfile.Read(path)
	if err != nil {
		return nil, err //nolint:wrapcheck // names the file
	}
	return ParseTags(path, data)
}

func command(words []string) string { return strings.Join(words, " ") }

// ParseTags are the lines of a text that are not empty, without the blanks around them; name
// is for messages.
func ParseTags(name string, data []byte) ([]string, error) {
	if len(data) > yamlfile.MaxSize {
		return nil, fmt.Errorf("%s: %w", name, errLarge)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		if tag := strings.TrimSpace(line); tag != "" {
			out = append(out, tag)
		}
	}
	return out, nil
}

// errLarge: half a list is none.
var errLarge = fmt.Errorf("it says more than %d MiB", yamlfile.MaxSize>>20)

func ask(ctx context.Context, words []string, dir string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, askWithin, fmt.Errorf("it was ended after %s", askWithin))
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var log tail
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = dir, &log, endWithin
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", words[0], err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run %s: %w", words[0], err)
	}
	data, err := io.ReadAll(io.LimitReader(out, yamlfile.MaxSize+1))
	if len(data) > yamlfile.MaxSize {
		cancel()
		err = errLarge
	}
	if err = errors.Join(err, cmd.Wait()); err != nil {
		return nil, fmt.Errorf("run %s: %w%s", command(words), errors.Join(context.Cause(ctx), err), log.said())
	}
	return data, nil
}

// tail keeps the end of a log.
type tail struct{ bytes.Buffer }

const tailSize = 1024

func (t *tail) Write(p []byte) (int, error) {
	t.Buffer.Write(p)
	if n := t.Len() - tailSize; n > 0 {
		t.Next(n)
	}
	return len(p), nil
}

func (t *tail) said() string {
	if text := strings.TrimSpace(t.String()); text != "" {
		return ": " + text
	}
	return ""
}
