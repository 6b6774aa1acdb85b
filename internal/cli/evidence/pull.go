package evidence

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/evidence/oci"
)

// pulled is the -o json form of pull.
type pulled struct {
	oci.Pushed
	Run string `json:"run"`
	Dir string `json:"dir"`
}

func newEvidencePull(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pull REFERENCE",
		Short: "Pull a run from an OCI registry and unpack it",
		Long: `pull fetches the run that a reference names, holds what comes against its
digests, and unpacks it into a directory of the run's name. An archive that is cut,
or holds anything odd, is refused, and nothing is left of it. Who made the run is
for evidence verify to say. A run that came from elsewhere is resumed only by its name, and
no verdict of it is kept.`,
		Example: `  firstlight evidence pull oci://registry.example.com/acceptance:20261121 --to evidence
  firstlight evidence verify evidence/20261121-014233-7f3a --key firstlight.pub`,
		Args: cobra.ExactArgs(1),
	}
	out := addOutputFlag(cmd)
	plain := addPlainHTTP(cmd)
	to := cmd.Flags().String("to", "evidence", "directory in which the run's own is made")
	cmd.RunE = func(c *cobra.Command, args []string) error {
		if err := os.MkdirAll(*to, 0o755); err != nil { //nolint:gosec // evidence is to be read by others
			return usage("%w", err)
		}
		// On the same file system, so that what was unpacked only has to be renamed.
		temp, err := os.MkdirTemp(*to, ".pull-")
		if err != nil {
			return usage("%w", err)
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
			return &exitError{code: ExitFailed, err: err}
		}
		done := pulled{Pushed: from, Run: u.Run, Dir: filepath.Join(*to, u.Run)}
		if _, err := os.Lstat(done.Dir); !errors.Is(err, fs.ErrNotExist) {
			return usage("%s is there already: a run is never written over", done.Dir)
		}
		if err := os.Rename(u.Dir, done.Dir); err != nil {
			return infrastructure(fmt.Errorf("put the run in its place: %w", err))
		}
		return out.write(s.Out, done, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "pulled %s (%s)\ndigest %s\nrun %s\n", done.Reference, size(done.Bytes), done.Digest, done.Dir)
			return err
		})
	}
	return cmd
}
