package oci

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"time"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/registry/remote"
)

// The media types.
const (
	ArtifactType = "application/vnd.firstlight.evidence.v1"
	LayerType    = "application/vnd.firstlight.evidence.v1.tar+gzip"
)

// The annotations of the artifact, for people: nothing vouches for them.
const (
	AnnotationRun       = "dev.firstlight.run"
	AnnotationVerdict   = "dev.firstlight.verdict"
	AnnotationState     = "dev.firstlight.state"
	AnnotationSimulated = "dev.firstlight.simulated"
)

// Info has the annotations of the artifact.
type Info struct {
	Created     time.Time
	Annotations map[string]string
}

// Pushed is where an archive went, or came from.
type Pushed struct {
	// Reference as given, Digest of the artifact's manifest.
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
	// Layer is the archive's digest, Bytes its size.
	Layer string `json:"layer"`
	Bytes int64  `json:"bytes"`
}

// Push puts the archive at path into a registry under a tag. The same archive
// and info have the same digest every time.
func Push(ctx context.Context, ref, path string, info Info, o Options) (Pushed, error) {
	repo, parsed, err := repository(ref, o)
	if err != nil {
		return Pushed{}, err
	}
	if err := parsed.ValidateReferenceAsTag(); err != nil {
		return Pushed{}, fmt.Errorf("%w: push to a tag, not to %q: the digest comes from what is pushed", ErrReference, parsed.Reference)
	}
	layer, err := describe(path)
	if err != nil {
		return Pushed{}, fmt.Errorf("push %s: %w", path, err)
	}
	if err := pushLayer(ctx, repo, path, layer, o.Tell); err != nil {
		return Pushed{}, fmt.Errorf("push %s to %s: %w", path, ref, err)
	}
	annotations := map[string]string{ocispec.AnnotationCreated: info.Created.UTC().Format(time.RFC3339)}
	maps.Copy(annotations, info.Annotations)
	manifest, err := oras.PackManifest(ctx, repo, oras.PackManifestVersion1_1, ArtifactType, oras.PackManifestOptions{
		Layers: []ocispec.Descriptor{layer}, ManifestAnnotations: annotations,
	})
	if err == nil {
		err = repo.Tag(ctx, manifest, parsed.Reference)
	}
	if err != nil {
		return Pushed{}, fmt.Errorf("push %s to %s: %w", path, ref, err)
	}
	return Pushed{Reference: ref, Digest: manifest.Digest.String(), Layer: layer.Digest.String(), Bytes: layer.Size}, nil
}

// describe hashes the archive.
func describe(path string) (ocispec.Descriptor, error) {
	f, err := os.Open(path)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	d := digest.SHA256.Digester()
	n, err := io.Copy(d.Hash(), f)
	if err := errors.Join(err, f.Close()); err != nil {
		return ocispec.Descriptor{}, err
	}
	return ocispec.Descriptor{MediaType: LayerType, Digest: d.Digest(), Size: n}, nil
}

// pushLayer sends the archive unless the registry has it.
func pushLayer(ctx context.Context, repo *remote.Repository, path string, layer ocispec.Descriptor, tell func(done, total int64)) error {
	there, err := repo.Exists(ctx, layer)
	if err != nil {
		return fmt.Errorf("ask for the archive: %w", err)
	}
	if there {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = repo.Push(ctx, layer, &counted{r: f, total: layer.Size, tell: tell})
	return errors.Join(err, f.Close())
}

// counted tells how far a transfer is.
type counted struct {
	r           io.Reader
	done, total int64
	tell        func(done, total int64)
}

// Read implements io.Reader.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.done += int64(n)
	if c.tell != nil && n > 0 {
		c.tell(c.done, c.total)
	}
	return n, err
}
