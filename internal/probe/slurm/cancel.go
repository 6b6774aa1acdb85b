package slurm

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/probe/ssh"
)

// cancelTimeout limits the removal of a job whose srun did not end by itself.
const cancelTimeout = 30 * time.Second

// Cancel removes the user's jobs of a name, also when ctx has ended: srun may have been cut off from its job,
// which without it ends with its time limit. run runs a command where Slurm's clients are.
func Cancel(ctx context.Context, run func(ctx context.Context, argv ...string) (ssh.Output, error), name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
	defer cancel()
	out, err := run(ctx, "scancel", "--name="+name)
	if err == nil && out.Exit != 0 {
		err = fmt.Errorf("scancel exited with code %d: %.400s", out.Exit, bytes.ToValidUTF8(bytes.TrimSpace(out.Stderr), []byte("?")))
	}
	if err != nil {
		return fmt.Errorf("its job may still run: %w", err)
	}
	return nil
}
