package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/archive"
)

// packed is the -o json form of pack.
type packed struct {
	archive.Packed
	Archive string `json:"archive"`
}

func newEvidencePack(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pack DIR",
		Short: "Pack a signed run into one file",
		Long: `pack writes the run's directory with its attestation into a gzipped tar that is
the same, byte for byte, whoever packs it. An interrupted run can be packed as it
is. A run that is not signed is packed only with --unsigned. A file that is there
is never written over.`,
		Example: `  firstlight evidence pack evidence/20261121-014233-7f3a
  firstlight evidence pack evidence/20261121-014233-7f3a --to acceptance.tar.gz`,
		Args: cobra.ExactArgs(1),
	}
	out := addOutputFlag(cmd)
	to := cmd.Flags().String("to", "", "file to write (default RUN.tar.gz in this directory)")
	unsigned := cmd.Flags().Bool("unsigned", false, "pack a run that is not signed")
	cmd.RunE = func(c *cobra.Command, args []string) error {
		dir, err := bundleDir(args[0])
		if err != nil {
			return err
		}
		if err := wantSigned(dir, *unsigned); err != nil {
			return err
		}
		b, err := evidence.Load(dir)
		if err != nil {
			return usage("%w", err)
		}
		path := *to
		if path == "" {
			path = b.Header.Run + ".tar.gz"
		}
		p, err := packTo(c.Context(), s, dir, path)
		if err != nil {
			return err
		}
		done := packed{Packed: p, Archive: path}
		return out.write(s.Out, done, func(w io.Writer) error {
			if !done.Signed {
				fmt.Fprintln(w, "the run is NOT signed: nothing says who made it")
			}
			if !done.Finished {
				fmt.Fprintln(w, "the run was interrupted: firstlight evidence verify says what is missing")
			}
			_, err := fmt.Fprintf(w, "%s: run %s, %d files, %s before compression\n", done.Archive, done.Run, done.Files, size(done.Bytes))
			return err
		})
	}
	return cmd
}

// wantSigned refuses a run without an attestation, unless told.
func wantSigned(dir string, unsigned bool) error {
	if _, err := evidence.Attestation(dir); errors.Is(err, fs.ErrNotExist) && !unsigned {
		return usage("%s is not signed: firstlight evidence sign %s --key NAME.key, or --unsigned", dir, dir)
	}
	return nil
}

// packTo packs into a file that must not be there; nothing is left of a half one.
func packTo(ctx context.Context, s Streams, dir, path string) (archive.Packed, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // evidence is to be read by others
	if errors.Is(err, fs.ErrExist) {
		return archive.Packed{}, usage("%s is there already: give another file with --to", path)
	}
	if err != nil {
		return archive.Packed{}, usage("%w", err)
	}
	show := newTransfer(s.Err, "pack")
	p, err := archive.Pack(ctx, f, dir, func(file string) { show.tell("%s", filepath.Base(file)) })
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	show.close(err)
	if err != nil {
		err = errors.Join(err, os.Remove(path))
		if errors.Is(err, evidence.ErrLocked) {
			return archive.Packed{}, usage("%w: wait for its end", err)
		}
		return archive.Packed{}, infrastructure(err)
	}
	return p, nil
}
