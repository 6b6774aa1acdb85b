package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/archive"
	"github.com/firstlight/firstlight/internal/evidence/attest"
	"github.com/firstlight/firstlight/internal/evidence/oci"
)

func newEvidencePush(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "push BUNDLE|DIR REFERENCE",
		Short: "Push a signed run to an OCI registry",
		Long: `push puts a packed run, or the directory of one, which it packs, into a registry
as an OCI artifact. Credentials are those of the Docker configuration. A registry
that is not on loopback is spoken to with TLS, unless --plain-http is given.`,
		Example: `  firstlight evidence push 20261121-014233-7f3a.tar.gz oci://registry.example.com/acceptance:20261121
  firstlight evidence push evidence/20261121-014233-7f3a oci://127.0.0.1:5000/acceptance:20261121`,
		Args: cobra.ExactArgs(2),
	}
	out := addOutputFlag(cmd)
	plain := addPlainHTTP(cmd)
	unsigned := cmd.Flags().Bool("unsigned", false, "push a run that is not signed")
	cmd.RunE = func(c *cobra.Command, args []string) error {
		temp, err := os.MkdirTemp("", "firstlight-push-")
		if err != nil {
			return infrastructure(err)
		}
		defer func() { _ = os.RemoveAll(temp) }() // a temporary directory
		path, dir, err := bundleToPush(c.Context(), s, args[0], temp, *unsigned)
		if err != nil {
			return err
		}
		info, err := infoOf(dir)
		if err != nil {
			return usage("%w", err)
		}
		show := newTransfer(s.Err, "push")
		pushed, err := oci.Push(c.Context(), args[1], path, info, oci.Options{PlainHTTP: *plain, Tell: show.bytes})
		show.close(err)
		if err != nil {
			return ociError(err)
		}
		return out.write(s.Out, pushed, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "pushed %s (%s) to %s\ndigest %s\n", args[0], size(pushed.Bytes), pushed.Reference, pushed.Digest)
			return err
		})
	}
	return cmd
}

func addPlainHTTP(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("plain-http", false, "speak without TLS to a registry that is not on loopback")
}

// ociError tells a wrong reference from a registry that does not answer as it should.
func ociError(err error) error {
	if errors.Is(err, oci.ErrReference) || errors.Is(err, oci.ErrNoEvidence) || errors.Is(err, os.ErrExist) {
		return usage("%w", err)
	}
	return infrastructure(err)
}

// bundleToPush is the archive to push, and a directory to read the run from.
func bundleToPush(ctx context.Context, s Streams, from, temp string, unsigned bool) (path, dir string, err error) {
	info, err := os.Stat(from)
	if err != nil {
		return "", "", usage("%w: give a packed run, or the directory of one", err)
	}
	if !info.IsDir() {
		u, err := unpackTo(ctx, from, temp)
		if err != nil {
			return "", "", err
		}
		if err := u.Err(); err != nil {
			return "", "", &exitError{code: ExitFailed, err: err}
		}
		return from, u.Dir, wantSigned(u.Dir, unsigned)
	}
	if dir, err = bundleDir(from); err != nil {
		return "", "", err
	}
	if err := wantSigned(dir, unsigned); err != nil {
		return "", "", err
	}
	path = filepath.Join(temp, "run.tar.gz")
	_, err = packTo(ctx, s, dir, path)
	return path, dir, err
}

func unpackTo(ctx context.Context, path, into string) (archive.Unpacked, error) {
	f, err := os.Open(path)
	if err != nil {
		return archive.Unpacked{}, usage("%w", err)
	}
	defer func() { _ = f.Close() }() // only read
	u, err := archive.Unpack(ctx, f, into, archive.Limits{})
	if err != nil {
		return u, infrastructure(err)
	}
	return u, nil
}

// infoOf is what the artifact says about itself, for people who look at a registry.
func infoOf(dir string) (oci.Info, error) {
	b, err := evidence.Load(dir)
	if err != nil {
		return oci.Info{}, err //nolint:wrapcheck // says what it was doing
	}
	v := b.Summary()
	state := attest.Interrupted
	if b.Finished {
		state = attest.Finished
	}
	return oci.Info{Created: v.Finished, Annotations: map[string]string{
		oci.AnnotationRun: v.Run, oci.AnnotationVerdict: string(v.Verdict), oci.AnnotationState: string(state),
		oci.AnnotationSimulated: fmt.Sprint(v.Simulated),
	}}, nil
}
