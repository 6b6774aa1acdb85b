package chart

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	release "helm.sh/helm/v4/pkg/release/v1"
)

// KubeVersion is the Kubernetes that charts are rendered for. It is fixed, so that a
// lock does not change with the library; every recipe's constraints allow it.
const KubeVersion = "v1.34.0"

// settings are what a chart is rendered with.
type settings struct {
	release, namespace string
	// values in JSON: numbers then have the type that Helm gives them.
	values []byte
	// apis are kinds that are served beside those of Kubernetes, as group/version/Kind.
	apis []string
}

// rendered is what came of a chart.
type rendered struct {
	objects []object
	// missing are charts that it depends on and that are not there.
	missing []missing
}

// render renders the chart as helm install --dry-run=client does. Where charts that
// it depends on are missing, there are no objects.
func (c *Chart) render(ctx context.Context, s settings) (*rendered, error) {
	loaded, err := c.load()
	if err != nil {
		return nil, err
	}
	var values map[string]any
	if err := json.Unmarshal(s.values, &values); err != nil {
		return nil, fmt.Errorf("read values for chart %s: %w", c.Name, err)
	}
	kube, err := common.ParseKubeVersion(KubeVersion)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", KubeVersion, err)
	}
	addStubs(loaded, "")
	apis := served(loaded, s.apis)
	install := action.NewInstall(action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler)))
	install.DryRunStrategy, install.ReleaseName, install.Namespace = action.DryRunClient, s.release, s.namespace
	install.SkipCRDs, install.KubeVersion, install.APIVersions = true, kube, apis
	out, err := install.RunWithContext(ctx, loaded, values)
	if stubs := remainingStubs(loaded, ""); len(stubs) > 0 {
		return &rendered{missing: stubs}, nil // whatever went wrong, this is why
	}
	if err != nil {
		return nil, fmt.Errorf("render chart %s: %w", c.Name, err)
	}
	rel, ok := out.(*release.Release)
	if !ok {
		return nil, fmt.Errorf("render chart %s: helm returns a %T", c.Name, out)
	}
	objects, err := releaseObjects(rel)
	if err != nil {
		return nil, fmt.Errorf("read what chart %s rendered: %w", c.Name, err)
	}
	return &rendered{objects: objects}, nil
}
