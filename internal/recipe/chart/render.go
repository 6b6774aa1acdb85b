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

// KubeVersion is the Kubernetes version that charts are rendered for. It is fixed so that a
// library update does not change locks; every recipe's constraints allow it.
const KubeVersion = "v1.34.0"

type renderOptions struct {
	release, namespace string
	// values are JSON, so that numbers have the types that Helm gives them.
	values []byte
	// apis are the served kinds in addition to those of Kubernetes, as group/version/Kind.
	apis []string
}

type rendered struct {
	objects []object
	// missing are the required dependencies that are not packaged with the chart.
	missing []dependencyStub
}

// render renders the chart like helm install --dry-run=client. If dependencies are missing, it
// returns them and no objects.
func (c *Chart) render(ctx context.Context, s renderOptions) (*rendered, error) {
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
		return nil, fmt.Errorf("parse %s: %w", KubeVersion, err)
	}
	addStubs(loaded, "")
	apis := servedAPIs(loaded, s.apis)
	install := action.NewInstall(action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler)))
	install.DryRunStrategy, install.ReleaseName, install.Namespace = action.DryRunClient, s.release, s.namespace
	install.SkipCRDs, install.KubeVersion, install.APIVersions = true, kube, apis
	out, err := install.RunWithContext(ctx, loaded, values)
	if stubs := remainingStubs(loaded, ""); len(stubs) > 0 {
		return &rendered{missing: stubs}, nil // missing dependencies explain any error
	}
	if err != nil {
		return nil, fmt.Errorf("render chart %s: %w", c.Name, err)
	}
	rel, ok := out.(*release.Release)
	if !ok {
		return nil, fmt.Errorf("render chart %s: unexpected Helm result %T", c.Name, out)
	}
	objects, err := releaseObjects(rel)
	if err != nil {
		return nil, fmt.Errorf("read rendered objects of chart %s: %w", c.Name, err)
	}
	return &rendered{objects: objects}, nil
}
