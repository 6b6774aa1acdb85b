package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/archive"
	"github.com/firstlight/firstlight/internal/evidence/attest"
	"github.com/firstlight/firstlight/internal/evidence/oci"
)

func newPush(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "push BUNDLE|DIR REFERENCE",
		Short: "Push a signed run to an OCI registry",
		Long: `Push a packed run, or the directory of a run, to a registry as an OCI artifact.
Credentials come from the Docker configuration. TLS is required except on loopback or
with --plain-http.`,
		Example: `  firstlight evidence push 20261121-014233-7f3a.tar.gz oci://registry.example.com/acceptance:20261121
  firstlight evidence push evidence/20261121-014233-7f3a oci://127.0.0.1:5000/acceptance:20261121`,
		Args: cobra.ExactArgs(2),
	}
	out := cmdutil.AddOutputFlag(cmd)
	plain := addPlainHTTP(cmd)
	unsigned := cmd.Flags().Bool("unsigned", false, "allow a run without a signature")
	cmd.RunE = func(c *cobra.Command, args []string) error {
		temp, err := os.MkdirTemp("", "firstlight-push-")
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		defer func() { _ = os.RemoveAll(temp) }() // a temporary directory
		path, dir, err := bundleToPush(c.Context(), s, args[0], temp, *unsigned)
		if err != nil {
			return err
		}
		info, err := infoOf(dir)
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		show := newTransfer(s.Err, "push")
		pushed, err := oci.Push(c.Context(), args[1], path, info, oci.Options{PlainHTTP: *plain, Tell: show.bytes})
		show.close(err)
		if err != nil {
			return ociError(err)
		}
		return out.Write(s.Out, pushed, func(w io.Writer) {
			fmt.Fprintf(w, "pushed %s (%s) to %s\ndigest %s\n", args[0], size(pushed.Bytes), pushed.Reference, pushed.Digest)
		})
	}
	return cmd
}

func addPlainHTTP(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("plain-http", false, "connect without TLS to a registry that is not on loopback")
}

// ociError separates an invalid reference from a failure of the registry.
func ociError(err error) error {
	if errors.Is(err, oci.ErrReference) || errors.Is(err, oci.ErrNoEvidence) || errors.Is(err, os.ErrExist) {
		return cmdutil.UsageErrorf("%w", err)
	}
	return cmdutil.Unobserved(err)
}

// bundleToPush returns the archive to push and the directory of the run.
func bundleToPush(ctx context.Context, s cmdutil.Streams, from, temp string, unsigned bool) (path, dir string, err error) {
	info, err := os.Stat(from)
	if err != nil {
		return "", "", cmdutil.UsageErrorf("%w: want a packed run or the directory of a run", err)
	}
	if !info.IsDir() {
		u, err := unpackTo(ctx, from, temp)
		if err != nil {
			return "", "", err
		}
		if err := u.Err(); err != nil {
			return "", "", &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: err}
		}
		return from, u.Dir, requireSigned(u.Dir, unsigned)
	}
	if dir, err = cmdutil.RunDir(from); err != nil {
		return "", "", err
	}
	if err := requireSigned(dir, unsigned); err != nil {
		return "", "", err
	}
	path = filepath.Join(temp, "run.tar.gz")
	_, err = packTo(ctx, s, dir, path)
	return path, dir, err
}

func unpackTo(ctx context.Context, path, into string) (archive.Unpacked, error) {
	f, err := os.Open(path)
	if err != nil {
		return archive.Unpacked{}, cmdutil.UsageErrorf("%w", err)
	}
	defer func() { _ = f.Close() }() // only read
	u, err := archive.Unpack(ctx, f, into, archive.Limits{})
	if err != nil {
		return u, cmdutil.Unobserved(err)
	}
	return u, nil
}

// infoOf is the metadata of the artifact in the registry.
func infoOf(dir string) (oci.Info, error) {
	b, err := evidence.Load(dir)
	if err != nil {
		return oci.Info{}, err
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
