package oci

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"
)

// maxManifest bounds an artifact's manifest, in bytes.
const maxManifest = 1 << 20

// ErrNoEvidence means that the artifact of the reference has another type.
var ErrNoEvidence = errors.New("not a firstlight evidence artifact")

// Pull writes the archive that a reference names to path, which must not exist. If a
// digest differs, no file is left.
func Pull(ctx context.Context, ref, path string, o Options) (Pushed, error) {
	repo, parsed, err := repository(ref, o)
	if err != nil {
		return Pushed{}, err
	}
	manifest, layer, err := find(ctx, repo, parsed.Reference, o)
	if err != nil {
		return Pushed{}, fmt.Errorf("pull %s: %w", ref, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // evidence is to be read by others
	if err != nil {
		return Pushed{}, fmt.Errorf("pull %s: %w", ref, err)
	}
	err = fetch(ctx, repo, layer, f, o.Tell)
	if err := errors.Join(err, f.Close()); err != nil {
		return Pushed{}, errors.Join(fmt.Errorf("pull %s: %w", ref, err), os.Remove(path))
	}
	return Pushed{Reference: ref, Digest: manifest.Digest.String(), Layer: layer.Digest.String(), Bytes: layer.Size}, nil
}

// find resolves the reference to its manifest and the archive in it.
func find(ctx context.Context, repo *remote.Repository, reference string, o Options) (manifest, layer ocispec.Descriptor, err error) {
	manifest, err = repo.Resolve(ctx, reference)
	if err != nil {
		return manifest, layer, fmt.Errorf("resolve it: %w", err)
	}
	if manifest.MediaType != ocispec.MediaTypeImageManifest || manifest.Size > maxManifest {
		return manifest, layer, fmt.Errorf("%w: its manifest is %s of %d bytes", ErrNoEvidence, manifest.MediaType, manifest.Size)
	}
	data, err := content.FetchAll(ctx, repo, manifest)
	if err != nil {
		return manifest, layer, fmt.Errorf("read its manifest: %w", err)
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return manifest, layer, fmt.Errorf("%w: decode its manifest: %w", ErrNoEvidence, err)
	}
	if m.ArtifactType != ArtifactType || len(m.Layers) != 1 || m.Layers[0].MediaType != LayerType {
		return manifest, layer, fmt.Errorf("%w: it is a %q with %d layers", ErrNoEvidence, m.ArtifactType, len(m.Layers))
	}
	layer = m.Layers[0]
	limit := cmp.Or(o.MaxBytes, defaultMaxBytes)
	if layer.Size < 0 || layer.Size > limit {
		return manifest, layer, fmt.Errorf("%w: its archive is of %d bytes, at most %d are taken", ErrNoEvidence, layer.Size, limit)
	}
	return manifest, layer, nil
}

// fetch copies the archive and verifies its digest and size.
func fetch(ctx context.Context, repo *remote.Repository, layer ocispec.Descriptor, w io.Writer, tell func(done, total int64)) error {
	body, err := repo.Fetch(ctx, layer)
	if err != nil {
		return fmt.Errorf("fetch the archive: %w", err)
	}
	v := content.NewVerifyReader(body, layer)
	_, err = io.Copy(w, &counted{r: v, total: layer.Size, tell: tell})
	if err == nil {
		err = v.Verify()
	}
	if err := errors.Join(err, body.Close()); err != nil {
		return fmt.Errorf("fetch the archive: %w", err)
	}
	return nil
}
