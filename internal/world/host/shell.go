package host

import (
	"context"
	"fmt"
	"io"

	"github.com/firstlight/firstlight/internal/world"
)

// Shell runs a command line, or that of sh -c, and copies its output. name returns the host, which
// may change while the line runs.
func Shell(ctx context.Context, w *world.World, name func() string, line string, stdout, stderr io.Writer, run Command) int {
	steps, err := parse(line)
	if err != nil {
		fmt.Fprintf(stderr, "bash: %v\n", err)
		return 2
	}
	exit := 0
	for _, step := range steps {
		if (step.after == "&&" && exit != 0) || (step.after == "||" && exit == 0) {
			continue
		}
		if script, ok := Script(step.argv); ok {
			exit = Shell(ctx, w, name, script, stdout, stderr, run)
			continue
		}
		out, errOut, code := Execute(ctx, w, name(), step.argv, run)
		if step.mergeErr {
			out, errOut = append(out, errOut...), nil
		}
		if step.dropErr {
			errOut = nil
		}
		if _, err := stdout.Write(out); err != nil {
			return 255
		}
		if _, err := stderr.Write(errOut); err != nil {
			return 255
		}
		exit = code
	}
	return exit
}

// Script is the command line of sh -c.
func Script(argv []string) (string, bool) {
	if len(argv) != 3 || argv[0] != "sh" || argv[1] != "-c" {
		return "", false
	}
	return argv[2], true
}
