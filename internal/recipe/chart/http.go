package chart

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"helm.sh/helm/v4/pkg/getter"
	"helm.sh/helm/v4/pkg/repo/v1"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

// fetch downloads a packed chart from an HTTP repository, using its index.
func (r Repositories) fetch(ctx context.Context, want *model.FootprintChart) ([]byte, error) {
	transport := r.Network.transport(ctx)
	defer transport.CloseIdleConnections()
	client, err := getter.NewHTTPGetter(getter.WithTransport(transport), getter.WithTimeout(r.Network.timeout()))
	if err != nil {
		return nil, fmt.Errorf("create Helm HTTP client: %w", err)
	}
	base, err := url.Parse(strings.TrimSuffix(want.Repository, "/") + "/")
	if err != nil {
		return nil, errors.New("invalid repository URL")
	}
	index, err := client.Get(base.JoinPath("index.yaml").String())
	if err != nil {
		return nil, fmt.Errorf("get index: %w", err)
	}
	entry, err := find(index.Bytes(), want)
	if err != nil {
		return nil, err
	}
	at, err := base.Parse(entry.URLs[0])
	if err != nil || at.Scheme != "https" && at.Scheme != "http" {
		return nil, errors.New("the index has an invalid URL for the chart")
	}
	if at.Scheme == "http" && base.Scheme == "https" {
		return nil, fmt.Errorf("the index of an https repository refers to %s, without encryption", at.Redacted())
	}
	packed, err := client.Get(at.String())
	if err != nil {
		return nil, fmt.Errorf("get chart: %w", err)
	}
	sum := sha256.Sum256(packed.Bytes())
	if got := hex.EncodeToString(sum[:]); entry.Digest != "" && got != strings.TrimPrefix(entry.Digest, "sha256:") {
		return nil, fmt.Errorf("chart SHA-256 mismatch: got %s, the index has %s", got, entry.Digest)
	}
	return packed.Bytes(), nil
}

// find returns the index entry of the exact version; Helm's own lookup accepts a similar one.
func find(index []byte, want *model.FootprintChart) (*repo.ChartVersion, error) {
	dir, err := os.MkdirTemp("", "firstlight-chart-")
	if err != nil {
		return nil, fmt.Errorf("create a directory for the index: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // nothing of it is needed
	file := filepath.Join(dir, "index.yaml")
	if err := os.WriteFile(file, index, 0o600); err != nil {
		return nil, fmt.Errorf("write index: %w", err)
	}
	parsed, err := repo.LoadIndexFile(file) // Helm only reads files
	if err != nil {
		return nil, fmt.Errorf("read index: %s", strings.ReplaceAll(err.Error(), file, "index.yaml"))
	}
	versions, ok := parsed.Entries[want.Name]
	if !ok {
		return nil, fmt.Errorf("chart %s not found in the index", want.Name)
	}
	for _, v := range versions {
		if v.Metadata != nil && sameVersion(v.Version, want.Version) && len(v.URLs) > 0 {
			return v, nil
		}
	}
	return nil, fmt.Errorf("%s %s not found among %d versions in the index", want.Name, want.Version, len(versions))
}
