package evidence

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence/oci"
)

// pulled is the -o json form of pull.
type pulled struct {
	oci.Pushed
	Run string `json:"run"`
	Dir string `json:"dir"`
}

func newPull(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pull REFERENCE",
		Short: "Pull a run from an OCI registry and unpack it",
		Long: `Pull a run from an OCI registry, check its digests, and unpack it into a directory with the
run's name. A truncated archive, or one with unexpected entries, is refused and removed.
The signature is not checked: run evidence verify. accept resumes a pulled run only with
--resume ID, and does not reuse its verdicts.`,
		Example: `  firstlight evidence pull oci://registry.example.com/acceptance:20261121 --to evidence
  firstlight evidence verify evidence/20261121-014233-7f3a --key firstlight.pub`,
		Args: cobra.ExactArgs(1),
	}
	out := cmdutil.AddOutputFlag(cmd)
	plain := addPlainHTTP(cmd)
	to := cmd.Flags().String("to", "evidence", "directory to create the run's directory in")
	cmd.RunE = func(c *cobra.Command, args []string) error {
		if err := os.MkdirAll(*to, 0o755); err != nil { //nolint:gosec // evidence is public
			return cmdutil.UsageErrorf("%w", err)
		}
		// On the same file system: the unpacked run is renamed into place.
		temp, err := os.MkdirTemp(*to, ".pull-")
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		defer func() { _ = os.RemoveAll(temp) }() // a temporary directory
		show := newTransfer(s.Err, "pull")
		path := filepath.Join(temp, "run.tar.gz")
		from, err := oci.Pull(c.Context(), args[0], path, oci.Options{PlainHTTP: *plain, Tell: show.bytes})
		show.close(err)
		if err != nil {
			return ociError(err)
		}
		u, err := unpackTo(c.Context(), path, temp)
		if err != nil {
			return err
		}
		if err := u.Err(); err != nil {
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: err}
		}
		done := pulled{Pushed: from, Run: u.Run, Dir: filepath.Join(*to, u.Run)}
		if _, err := os.Lstat(done.Dir); !errors.Is(err, fs.ErrNotExist) {
			return cmdutil.UsageErrorf("%s already exists: a run is never overwritten", done.Dir)
		}
		if err := os.Rename(u.Dir, done.Dir); err != nil {
			return cmdutil.Unobserved(fmt.Errorf("rename the run: %w", err))
		}
		return out.Write(s.Out, done, func(w io.Writer) {
			fmt.Fprintf(w, "pulled %s (%s)\ndigest %s\nrun %s\n", done.Reference, size(done.Bytes), done.Digest, done.Dir)
		})
	}
	return cmd
}
