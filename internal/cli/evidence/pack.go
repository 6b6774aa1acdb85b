package evidence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/archive"
)

// packed is the -o json form of pack.
type packed struct {
	archive.Packed
	Archive string `json:"archive"`
}

func newPack(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pack DIR",
		Short: "Pack a signed run into one archive",
		Long: `Write the run's directory with its attestation into a gzipped tar archive. The archive is
reproducible, byte for byte. An interrupted run can be packed; an unsigned run needs
--unsigned. Existing files are never overwritten.`,
		Example: `  firstlight evidence pack evidence/20261121-014233-7f3a
  firstlight evidence pack evidence/20261121-014233-7f3a --to acceptance.tar.gz`,
		Args: cobra.ExactArgs(1),
	}
	out := cmdutil.AddOutputFlag(cmd)
	to := cmd.Flags().String("to", "", "archive to write (default: RUN.tar.gz in the current directory)")
	unsigned := cmd.Flags().Bool("unsigned", false, "allow a run without a signature")
	cmd.RunE = func(c *cobra.Command, args []string) error {
		dir, err := cmdutil.RunDir(args[0])
		if err != nil {
			return err
		}
		if err := requireSigned(dir, *unsigned); err != nil {
			return err
		}
		b, err := evidence.Load(dir)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		path := cmp.Or(*to, b.Header.Run+".tar.gz")
		p, err := packTo(c.Context(), s, dir, path)
		if err != nil {
			return err
		}
		done := packed{Packed: p, Archive: path}
		return out.Write(s.Out, done, func(w io.Writer) {
			if !done.Signed {
				fmt.Fprintln(w, "the run is NOT signed")
			}
			if !done.Finished {
				fmt.Fprintln(w, "the run was interrupted: firstlight evidence verify lists the missing steps")
			}
			fmt.Fprintf(w, "%s: run %s, %s, %s before compression\n", done.Archive, done.Run, cmdutil.Count(done.Files, "file"), size(done.Bytes))
		})
	}
	return cmd
}

// requireSigned refuses a run without an attestation, unless unsigned is set.
func requireSigned(dir string, unsigned bool) error {
	if _, err := evidence.Attestation(dir); errors.Is(err, fs.ErrNotExist) && !unsigned {
		return cmdutil.UsageErrorf("%s is not signed: firstlight evidence sign %s --key NAME.key, or --unsigned", dir, dir)
	}
	return nil
}

// packTo packs into a new file. It removes the file after an error.
func packTo(ctx context.Context, s cmdutil.Streams, dir, path string) (archive.Packed, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // evidence is public
	if errors.Is(err, fs.ErrExist) {
		return archive.Packed{}, cmdutil.UsageErrorf("%s already exists: choose another file with --to", path)
	}
	if err != nil {
		return archive.Packed{}, cmdutil.UsageErrorf("%w", err)
	}
	show := newTransfer(s.Err, "pack")
	p, err := archive.Pack(ctx, f, dir, func(file string) { show.progress("%s", filepath.Base(file)) })
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	show.close(err)
	if err != nil {
		err = errors.Join(err, os.Remove(path))
		if errors.Is(err, evidence.ErrLocked) {
			return archive.Packed{}, cmdutil.UsageErrorf("%w: wait until the run ends", err)
		}
		return archive.Packed{}, cmdutil.Unobserved(err)
	}
	return p, nil
}
