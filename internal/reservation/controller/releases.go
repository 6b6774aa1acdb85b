package controller

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/reservation/config"
	"github.com/firstlight/firstlight/internal/reservation/matrix"
)

const (
	// commandTimeout bounds the command that lists releases.
	commandTimeout = 2 * time.Minute
	// outputTimeout bounds how long its child processes may keep its output open after that.
	outputTimeout = 5 * time.Second
)

// tags returns the output of a command or the content of a file.
func tags(ctx context.Context, from matrix.Releases, dir string) ([]string, error) {
	if len(from.Command) > 0 {
		data, err := runCommand(ctx, from.Command, dir)
		if err != nil {
			return nil, err
		}
		return ParseTags(commandLine(from.Command), data)
	}
	path := resolvePath(dir, from.File)
	data, err := config.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseTags(path, data)
}

func commandLine(words []string) string { return strings.Join(words, " ") }

// ParseTags returns the non-empty lines of a text, trimmed; name is used in messages.
func ParseTags(name string, data []byte) ([]string, error) {
	if len(data) > config.MaxFileSize {
		return nil, fmt.Errorf("%s: %w", name, errTooLarge)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		if tag := strings.TrimSpace(line); tag != "" {
			out = append(out, tag)
		}
	}
	return out, nil
}

// errTooLarge: a truncated list is not usable.
var errTooLarge = fmt.Errorf("output is larger than %d MiB", config.MaxFileSize>>20)

func runCommand(ctx context.Context, words []string, dir string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, commandTimeout, fmt.Errorf("timeout after %s", commandTimeout))
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	var log commandTail
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = dir, &log, outputTimeout
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", words[0], err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("run %s: %w", words[0], err)
	}
	data, err := io.ReadAll(io.LimitReader(out, config.MaxFileSize+1))
	if len(data) > config.MaxFileSize {
		cancel()
		err = errTooLarge
	}
	if err = errors.Join(err, cmd.Wait()); err != nil {
		return nil, fmt.Errorf("run %s: %w%s", commandLine(words), errors.Join(context.Cause(ctx), err), log.text())
	}
	return data, nil
}

// commandTail keeps the end of a log.
type commandTail struct{ bytes.Buffer }

const tailSize = 1024

func (t *commandTail) Write(p []byte) (int, error) {
	t.Buffer.Write(p)
	if n := t.Len() - tailSize; n > 0 {
		t.Next(n)
	}
	return len(p), nil
}

func (t *commandTail) text() string {
	if text := strings.TrimSpace(t.String()); text != "" {
		return ": " + text
	}
	return ""
}
