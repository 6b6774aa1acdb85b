package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// ErrNoGPU means that the machine has no GPU to record.
var ErrNoGPU = errors.New("no GPU on this machine")

// toolTimeout limits one tool; dcgmi diag -r 1 takes seconds.
const toolTimeout = 5 * time.Minute

// Options of a capture.
type Options struct {
	Dir    string // of the entry, created
	Origin string // where the outputs are from, for the index: the machine and the driver
	Redact *Redactor
	// Log receives a line for each tool.
	Log func(format string, args ...any)
}

// Run records the outputs of every tool on PATH and writes the index. It returns the number of files,
// and ErrNoGPU if nvidia-smi is missing or lists no GPU.
func Run(ctx context.Context, o Options) (int, error) {
	driver, err := driverOf(ctx)
	if err != nil {
		return 0, err
	}
	var index strings.Builder
	index.WriteString("file\torigin\treader\texpected\n")
	files := 0
	for _, c := range commands() {
		if _, err := exec.LookPath(c.argv[0]); err != nil {
			o.Log("%s: not on PATH", c.argv[0])
			continue
		}
		out, problem := output(ctx, c.argv)
		if ctx.Err() != nil {
			return files, ctx.Err()
		}
		if len(bytes.TrimSpace(out)) == 0 {
			o.Log("%s: no output: %v", strings.Join(c.argv, " "), problem)
			continue
		}
		if err := write(filepath.Join(o.Dir, filepath.FromSlash(c.file)), o.Redact.Redact(string(out))); err != nil {
			return files, err
		}
		exit := "exit 0"
		if problem != nil {
			exit = problem.Error()
		}
		index.WriteString(strings.Join([]string{c.file, fmt.Sprintf("%s, driver %s: %s (%s)", o.Origin, driver, strings.Join(c.argv, " "), exit), c.kind, "read"}, "\t") + "\n")
		o.Log("%s: %d bytes (%s)", strings.Join(c.argv, " "), len(out), exit)
		files++
	}
	return files, write(filepath.Join(o.Dir, "INDEX.tsv"), index.String())
}

// driverOf is the driver version of the first GPU.
func driverOf(ctx context.Context) (string, error) {
	if _, err := exec.LookPath("nvidia-smi"); err != nil {
		return "", fmt.Errorf("%w: nvidia-smi is not on PATH", ErrNoGPU)
	}
	out, err := output(ctx, []string{"nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"})
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil || first == "" {
		return "", fmt.Errorf("%w: nvidia-smi prints %.120q (%v)", ErrNoGPU, first, err) //nolint:errorlint // one cause to match
	}
	return strings.TrimSpace(first), nil
}

// output is what a tool prints on both streams, in English.
func output(ctx context.Context, argv []string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.WaitDelay = time.Second
	return cmd.CombinedOutput()
}

func write(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return fmt.Errorf("create the directory of %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
