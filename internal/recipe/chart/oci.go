package chart

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"helm.sh/helm/v4/pkg/registry"

	"github.com/firstlight/firstlight/internal/probe/origin"
	"github.com/firstlight/firstlight/internal/recipe/model"
)

// pull downloads a packed chart from an OCI registry. It uses the credentials stored by helm
// registry login and docker login.
func (r Repositories) pull(ctx context.Context, want *model.FootprintChart) ([]byte, error) {
	transport := r.Network.transport(ctx)
	defer transport.CloseIdleConnections()
	client, err := registry.NewClient(
		registry.ClientOptWriter(io.Discard),
		registry.ClientOptHTTPClient(origin.Registry(&http.Client{Transport: transport, Timeout: r.Network.timeout()}, false)),
	)
	if err != nil {
		return nil, fmt.Errorf("create Helm registry client: %w", err)
	}
	ref := strings.TrimSuffix(strings.TrimPrefix(want.Repository, "oci://"), "/") + "/" + want.Name + ":" + want.Version
	result, err := client.Pull(ref)
	if err != nil {
		return nil, fmt.Errorf("pull: %w", err)
	}
	return result.Chart.Data, nil
}
