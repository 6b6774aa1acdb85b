package pregate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart"
	"helm.sh/helm/v4/pkg/chart/loader"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/kube"
	"helm.sh/helm/v4/pkg/registry"
	"helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"

	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/site"
)

// release installs or upgrades a Helm release, by chart and pinned version.
type release struct {
	spec site.Helm
	// mirror replaces the chart and its repository; empty: none.
	mirror     string
	timeout    time.Duration
	kubeconfig Kubeconfig
}

var _ plan.Prepare = (*release)(nil)

// Name is the equivalent helm command line.
func (r *release) Name() string {
	line := fmt.Sprintf("helm upgrade --install %s %s --version %s --namespace %s", r.spec.Release, r.chart(), r.spec.Version, r.spec.Namespace)
	if repository := r.repository(); repository != "" {
		line += " --repo " + repository
	}
	if !r.spec.NoWait {
		line += " --wait"
	}
	if !r.spec.KeepFailed {
		line += " --rollback-on-failure"
	}
	return line
}

func (r *release) chart() string {
	if r.mirror != "" {
		return r.mirror
	}
	return r.spec.Chart
}

func (r *release) repository() string {
	if r.mirror != "" {
		return ""
	}
	return r.spec.Repository
}

// Run installs or upgrades the release, waits until its objects are ready, and undoes a failure.
// The timeout is for each of these steps.
func (r *release) Run(ctx context.Context, out io.Writer, progress func(string)) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*r.timeout) // hooks, objects, undoing
	defer cancel()
	settings := settingsOf(r.spec.Namespace)
	if r.kubeconfig != nil {
		path, name, err := r.kubeconfig(ctx)
		if err != nil {
			return -1, fmt.Errorf("find the cluster for release %s: %w", r.spec.Release, err)
		}
		settings.KubeConfig, settings.KubeContext = path, name
	}
	cfg := action.NewConfiguration(action.ConfigurationSetLogger(slog.NewTextHandler(out, nil)))
	if err := cfg.Init(settings.RESTClientGetter(), r.spec.Namespace, "secret"); err != nil {
		return 1, fmt.Errorf("prepare helm: %w", err)
	}
	access, err := r.access()
	if err != nil {
		return 1, err
	}
	if cfg.RegistryClient, err = r.registry(out, access); err != nil {
		return 1, err
	}
	vals, err := r.values(settings)
	if err != nil {
		return 1, err
	}
	if err := r.apply(ctx, &session{Configuration: cfg, settings: settings, access: access, values: vals, out: out, progress: progress}); err != nil {
		fmt.Fprintln(out, oneLine(err))
		return 1, nil
	}
	fmt.Fprintf(out, "release %s of %s %s is installed in %s\n", r.spec.Release, r.chart(), r.spec.Version, r.spec.Namespace)
	return 0, nil
}

// session is what Helm's actions need for one release.
type session struct {
	*action.Configuration
	settings *cli.EnvSettings
	access   action.ChartPathOptions
	values   map[string]any
	out      io.Writer
	progress func(string)
	wait     []kube.WaitOption
	// made is the revision that this run has created; nil: it has not changed the release.
	made *releasev1.Release
}

// settingsOf are Helm's without those of the environment that choose a server or a user: the cluster is the one that the gate judges.
func settingsOf(namespace string) *cli.EnvSettings {
	s := cli.New()
	s.KubeContext, s.KubeAPIServer, s.KubeTLSServerName, s.KubeCaFile, s.KubeInsecureSkipTLSVerify = "", "", "", "", false
	s.KubeToken, s.KubeAsUser, s.KubeAsGroups = "", "", nil
	s.SetNamespace(namespace)
	return s
}

// oneLine joins the lines of an error: the last line of a preparation's output is its result.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(c rune) bool { return c == '\n' }), "; ")
}

// apply installs or upgrades. A failure that has changed the cluster is undone, unless the site keeps it.
func (r *release) apply(ctx context.Context, s *session) error {
	before, err := deployed(s.Configuration, r.spec.Release)
	if err != nil {
		return fmt.Errorf("look up release %s: %w", r.spec.Release, err)
	}
	if before.status.IsPending() {
		return fmt.Errorf("revision %d of release %s is %s: wait for the other Helm operation; if it was killed, return to an earlier revision (helm rollback)", before.last, r.spec.Release, before.status)
	}
	if r.spec.NoWait {
		err = r.change(ctx, s, before)
	} else {
		err = r.changeAndWait(ctx, s, before)
	}
	if err == nil || r.spec.KeepFailed {
		return err
	}
	mine, readErr := s.latest(r.spec.Release)
	if readErr != nil {
		return errors.Join(err, fmt.Errorf("the release could not be rolled back: %w", readErr))
	}
	if !mine {
		return fmt.Errorf("%w (the release was not changed)", err)
	}
	err = errors.Join(err, unready(ctx, s.Configuration, r.spec.Release))
	done, undoErr := r.undo(s, before)
	if undoErr != nil {
		return errors.Join(err, fmt.Errorf("the release could not be rolled back: %w", undoErr))
	}
	return fmt.Errorf("%w (%s)", err, done)
}

func (r *release) change(ctx context.Context, s *session, before state) error {
	if before.exists {
		return r.upgrade(ctx, s)
	}
	return r.install(ctx, s)
}

// changeAndWait waits until the objects are ready, or until a pod can never start.
func (r *release) changeAndWait(ctx context.Context, s *session, before state) error {
	wait, stop, err := r.watchPods(ctx, s)
	if err != nil {
		return err
	}
	defer stop()
	if err = r.change(ctx, s, before); err == nil {
		err = r.await(wait, s.Configuration)
	}
	if err != nil && ctx.Err() == nil && wait.Err() != nil {
		return fmt.Errorf("release %s cannot become ready: %w", r.spec.Release, context.Cause(wait))
	}
	return err
}

// load finds the chart, prints its digest, and refuses a version or digest that is not the pinned one.
func (r *release) load(ctx context.Context, opts *action.ChartPathOptions, s *session) (chart.Charter, error) {
	set(opts, s.access)
	path, err := r.locate(ctx, opts, s)
	if err != nil {
		return nil, fmt.Errorf("find chart %s %s: %w", r.chart(), r.spec.Version, err)
	}
	if err := r.checkDigest(path, s.out); err != nil {
		return nil, err
	}
	c, err := loader.Load(path)
	if err != nil {
		return nil, fmt.Errorf("load chart %s: %w", r.chart(), err)
	}
	accessor, err := chart.NewAccessor(c)
	if err != nil {
		return nil, fmt.Errorf("read chart %s: %w", r.chart(), err)
	}
	if got, ok := accessor.MetadataAsMap()["Version"].(string); ok && got != r.spec.Version {
		return nil, fmt.Errorf("chart %s is version %s, want %s as pinned by the site", r.chart(), got, r.spec.Version)
	}
	return c, nil
}

// checkDigest prints the SHA-256 of a chart's archive. The index of a repository has the same digest; in a registry
// it is that of the chart's layer, and not that of the manifest, which helm pull prints.
func (r *release) checkDigest(path string, out io.Writer) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("read chart %s: %w", r.chart(), err)
	}
	if info.IsDir() {
		if r.spec.Digest == "" {
			return nil
		}
		return fmt.Errorf("chart %s is a directory, and the site pins the digest of an archive: make it with helm package", r.chart())
	}
	got, err := digestFile(path)
	if err != nil {
		return fmt.Errorf("read chart %s: %w", r.chart(), err)
	}
	fmt.Fprintf(out, "chart %s %s has digest %s\n", r.chart(), r.spec.Version, got)
	if r.spec.Digest == "" || got == r.spec.Digest {
		return nil
	}
	err = fmt.Errorf("chart %s %s has digest %s, want %s as pinned by the site", r.chart(), r.spec.Version, got, r.spec.Digest)
	if registry.IsOCI(r.chart()) {
		err = fmt.Errorf("%w: must be the digest of the chart's layer, not that of the manifest, which helm pull prints", err)
	}
	return err
}

func (r *release) install(ctx context.Context, s *session) error {
	install := action.NewInstall(s.Configuration)
	install.ReleaseName, install.Namespace, install.CreateNamespace = r.spec.Release, r.spec.Namespace, true
	install.Timeout, install.WaitStrategy, install.WaitOptions = r.timeout, r.wait(), s.wait
	c, err := r.load(ctx, &install.ChartPathOptions, s)
	if err != nil {
		return err
	}
	made, err := install.RunWithContext(ctx, c, s.values)
	s.made, _ = made.(*releasev1.Release)
	if err != nil {
		return fmt.Errorf("install release %s: %w", r.spec.Release, err)
	}
	return nil
}

func (r *release) upgrade(ctx context.Context, s *session) error {
	upgrade := action.NewUpgrade(s.Configuration)
	upgrade.Namespace, upgrade.MaxHistory = r.spec.Namespace, s.settings.MaxHistory
	upgrade.Timeout, upgrade.WaitStrategy, upgrade.WaitOptions = r.timeout, r.wait(), s.wait
	c, err := r.load(ctx, &upgrade.ChartPathOptions, s)
	if err != nil {
		return err
	}
	made, err := upgrade.RunWithContext(ctx, r.spec.Release, c, s.values)
	s.made, _ = made.(*releasev1.Release)
	if err != nil {
		return fmt.Errorf("upgrade release %s: %w", r.spec.Release, err)
	}
	return nil
}

// wait is for the chart's hooks, and for the objects unless the site does not wait.
func (r *release) wait() kube.WaitStrategy {
	if r.spec.NoWait {
		return kube.HookOnlyStrategy
	}
	return kube.StatusWatcherStrategy
}

// state is a release before a change.
type state struct {
	exists bool
	// revision is the last deployed one; 0: none.
	revision int
	// last is the last revision, in whatever status.
	last   int
	status common.Status
}

func deployed(cfg *action.Configuration, name string) (state, error) {
	if err := cfg.KubeClient.IsReachable(); err != nil {
		return state{}, err
	}
	now, err := last(cfg, name)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return state{}, nil
	}
	if err != nil {
		return state{}, err
	}
	revision, err := deployedRevision(cfg, name)
	return state{exists: true, revision: revision, last: now.Version, status: now.Info.Status}, err
}
