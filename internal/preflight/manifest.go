package preflight

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/origin"
)

// mediaTypeDockerList is the type of Docker's list of manifests, which has the form of an index.
const mediaTypeDockerList = "application/vnd.docker.distribution.manifest.list.v2+json"

// Manifest returns the digest of an image in its registry, and its platforms ("linux/amd64"); none if the image is for one
// platform.
func Manifest(ctx context.Context, ref name.Reference, keys authn.Keychain) (digest string, platforms []string, err error) {
	repo, err := repository(ref, keys)
	if err != nil {
		return "", nil, err
	}
	manifest, body, err := repo.FetchReference(ctx, ref.Identifier())
	if err != nil {
		return "", nil, err
	}
	data, err := content.ReadAll(body, manifest)
	if err := errors.Join(err, body.Close()); err != nil {
		return "", nil, err
	}
	digest = manifest.Digest.String()
	if manifest.MediaType != ocispec.MediaTypeImageIndex && manifest.MediaType != mediaTypeDockerList {
		return digest, nil, nil
	}
	var index ocispec.Index
	if err := guard.JSON(data, &index); err != nil {
		return digest, nil, err
	}
	for _, m := range index.Manifests {
		if p := m.Platform; p != nil && p.OS != "unknown" { // an attestation
			platforms = append(platforms, p.OS+"/"+p.Architecture)
		}
	}
	return digest, platforms, nil
}

// repository opens the repository of a reference with the credentials of a keychain.
func repository(ref name.Reference, keys authn.Keychain) (registry.ReferenceFetcher, error) {
	of := ref.Context()
	host := of.RegistryStr()
	if host == name.DefaultRegistry {
		host = "docker.io" // the client has the address of its API
	}
	repo, err := remote.NewRepository(host + "/" + of.RepositoryStr())
	if err != nil {
		return nil, fmt.Errorf("open the repository of %s: %w", ref, err)
	}
	repo.PlainHTTP = of.Scheme() == "http"
	repo.Client = &auth.Client{
		Client: origin.Registry(&http.Client{}, false), Header: http.Header{"User-Agent": {"firstlight"}},
		Credential: func(context.Context, string) (auth.Credential, error) {
			a, err := keys.Resolve(of)
			if err != nil {
				return auth.EmptyCredential, fmt.Errorf("find the credentials of %s: %w", host, err)
			}
			c, err := a.Authorization()
			if err != nil {
				return auth.EmptyCredential, fmt.Errorf("read the credentials of %s: %w", host, err)
			}
			return auth.Credential{Username: c.Username, Password: c.Password, RefreshToken: c.IdentityToken, AccessToken: c.RegistryToken}, nil
		},
	}
	return repo.Manifests(), nil
}
