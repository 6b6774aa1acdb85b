package pregate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/cli/values"
	"helm.sh/helm/v4/pkg/getter"
	"helm.sh/helm/v4/pkg/kube"
	"helm.sh/helm/v4/pkg/registry"
	"helm.sh/helm/v4/pkg/storage/driver"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/origin"
	"github.com/firstlight/firstlight/internal/site"
)

// release installs or upgrades a Helm release, by chart and pinned version.
type release struct {
	spec       site.Helm
	timeout    time.Duration
	kubeconfig Kubeconfig
}

var _ plan.Prepare = (*release)(nil)

// Name is the equivalent helm command line.
func (r *release) Name() string {
	return fmt.Sprintf("helm upgrade --install %s %s --version %s --namespace %s", r.spec.Release, r.spec.Chart, r.spec.Version, r.spec.Namespace)
}

// Run installs or upgrades the release. It does not wait until its pods are ready: the gate
// observes that.
func (r *release) Run(ctx context.Context, out io.Writer) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	settings := cli.New()
	if r.kubeconfig != nil {
		path, name, err := r.kubeconfig(ctx)
		if err != nil {
			return -1, fmt.Errorf("find the cluster for release %s: %w", r.spec.Release, err)
		}
		settings.KubeConfig, settings.KubeContext = path, name
	}
	settings.SetNamespace(r.spec.Namespace)
	cfg := action.NewConfiguration(action.ConfigurationSetLogger(slog.NewTextHandler(out, nil)))
	if err := cfg.Init(settings.RESTClientGetter(), r.spec.Namespace, "secret"); err != nil {
		return 1, fmt.Errorf("prepare helm: %w", err)
	}
	client, err := registry.NewClient(registry.ClientOptWriter(out), registry.ClientOptHTTPClient(origin.Registry(&http.Client{Transport: retry.NewTransport(nil)}, false)))
	if err != nil {
		return 1, fmt.Errorf("prepare helm's registry client: %w", err)
	}
	cfg.RegistryClient = client
	vals, err := r.values(settings)
	if err != nil {
		return 1, err
	}
	history := action.NewHistory(cfg)
	history.Max = 1
	_, err = history.Run(r.spec.Release)
	switch {
	case errors.Is(err, driver.ErrReleaseNotFound):
		err = r.install(ctx, cfg, settings, vals)
	case err == nil:
		err = r.upgrade(ctx, cfg, settings, vals)
	default:
		err = fmt.Errorf("look up release %s: %w", r.spec.Release, err)
	}
	if err != nil {
		fmt.Fprintln(out, err)
		return 1, nil
	}
	fmt.Fprintf(out, "release %s of %s %s is installed in %s\n", r.spec.Release, r.spec.Chart, r.spec.Version, r.spec.Namespace)
	return 0, nil
}

func (r *release) values(settings *cli.EnvSettings) (map[string]any, error) {
	var opts values.Options
	if r.spec.ValuesFile != "" {
		opts.ValueFiles = []string{r.spec.ValuesFile}
	}
	vals, err := opts.MergeValues(getter.All(settings))
	if err != nil {
		return nil, fmt.Errorf("read values of release %s: %w", r.spec.Release, err)
	}
	return vals, nil
}

func (r *release) load(opts *action.ChartPathOptions, settings *cli.EnvSettings) (chart.Charter, error) {
	opts.Version = r.spec.Version
	path, err := opts.LocateChart(r.spec.Chart, settings)
	if err != nil {
		return nil, fmt.Errorf("find chart %s %s: %w", r.spec.Chart, r.spec.Version, err)
	}
	c, err := loader.Load(path)
	if err != nil {
		return nil, fmt.Errorf("load chart %s: %w", r.spec.Chart, err)
	}
	return c, r.pinned(c)
}

// pinned refuses a local chart whose version differs from that of the site.
func (r *release) pinned(c chart.Charter) error {
	accessor, err := chart.NewAccessor(c)
	if err != nil {
		return fmt.Errorf("read chart %s: %w", r.spec.Chart, err)
	}
	if got, ok := accessor.MetadataAsMap()["Version"].(string); ok && got != r.spec.Version {
		return fmt.Errorf("chart %s is version %s, want %s as pinned by the site", r.spec.Chart, got, r.spec.Version)
	}
	return nil
}

func (r *release) install(ctx context.Context, cfg *action.Configuration, settings *cli.EnvSettings, vals map[string]any) error {
	install := action.NewInstall(cfg)
	install.ReleaseName, install.Namespace, install.CreateNamespace = r.spec.Release, r.spec.Namespace, true
	install.Timeout, install.WaitStrategy = r.timeout, kube.HookOnlyStrategy
	c, err := r.load(&install.ChartPathOptions, settings)
	if err != nil {
		return err
	}
	if _, err := install.RunWithContext(ctx, c, vals); err != nil {
		return fmt.Errorf("install release %s: %w", r.spec.Release, err)
	}
	return nil
}

func (r *release) upgrade(ctx context.Context, cfg *action.Configuration, settings *cli.EnvSettings, vals map[string]any) error {
	upgrade := action.NewUpgrade(cfg)
	upgrade.Namespace = r.spec.Namespace
	upgrade.Timeout, upgrade.WaitStrategy = r.timeout, kube.HookOnlyStrategy
	c, err := r.load(&upgrade.ChartPathOptions, settings)
	if err != nil {
		return err
	}
	if _, err := upgrade.RunWithContext(ctx, r.spec.Release, c, vals); err != nil {
		return fmt.Errorf("upgrade release %s: %w", r.spec.Release, err)
	}
	return nil
}
