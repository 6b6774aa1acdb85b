package pregate

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	chartcommon "helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	kubefake "helm.sh/helm/v4/pkg/kube/fake"
	"helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/site"
)

// writes is Helm's client of a cluster; it counts what changes objects.
type writes struct {
	kubefake.FailingKubeClient
	changed int
}

func (w *writes) Update(from, to kube.ResourceList, options ...kube.ClientUpdateOption) (*kube.Result, error) {
	w.changed++
	return w.FailingKubeClient.Update(from, to, options...)
}

func (w *writes) Delete(list kube.ResourceList, policy metav1.DeletionPropagation) (*kube.Result, []error) {
	w.changed++
	return w.FailingKubeClient.Delete(list, policy)
}

// memoryHelm is a session of Helm's memory driver with a release whose revisions have these statuses, from 1 on.
func memoryHelm(t *testing.T, statuses ...common.Status) (*session, *writes) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","items":[]}`)
	}))
	t.Cleanup(server.Close)
	settings := settingsOf("n")
	settings.KubeConfig = kubeconfigOf(t, server.URL)
	client := &writes{FailingKubeClient: kubefake.FailingKubeClient{PrintingKubeClient: kubefake.PrintingKubeClient{Out: io.Discard}}}
	memory := driver.NewMemory()
	memory.SetNamespace("n")
	cfg := &action.Configuration{Releases: storage.Init(memory), KubeClient: client, Capabilities: chartcommon.DefaultCapabilities, RESTClientGetter: settings.RESTClientGetter()}
	for i, status := range statuses {
		chart := &chartv2.Chart{Metadata: &chartv2.Metadata{APIVersion: "v2", Name: "c", Version: "1.0.0"}}
		r := releasev1.Mock(&releasev1.MockReleaseOptions{Name: "r", Version: i + 1, Namespace: "n", Status: status, Chart: chart})
		r.Hooks, r.Manifest = nil, ""
		if err := cfg.Releases.Create(r); err != nil {
			t.Fatal(err)
		}
	}
	return &session{Configuration: cfg, settings: settings, out: io.Discard, progress: func(string) {}}, client
}

func kubeconfigOf(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: \"" + server + "\"}}]\n" +
		"contexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: own}}]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// chartDir is a chart of version 1.2.3 with one ConfigMap.
func chartDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "templates"), 0o750); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"Chart.yaml":        "apiVersion: v2\nname: c\nversion: 1.2.3\n",
		"templates/cm.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// statusesOf are the statuses of the revisions of release r.
func statusesOf(t *testing.T, s *session) string {
	t.Helper()
	found, err := s.Releases.History("r")
	if err != nil && !errors.Is(err, driver.ErrReleaseNotFound) {
		t.Fatal(err)
	}
	out := make([]string, len(found))
	for _, f := range found {
		r := f.(*releasev1.Release)
		out[r.Version-1] = r.Info.Status.String()
	}
	return strings.Join(out, " ")
}

// A failure before Helm has written a revision leaves the release of a cluster in use as it is, whatever its status: an install
// that timed out is "failed" for good, and was uninstalled because its chart could not be downloaded.
func TestUnchangedReleaseIsNotUndone(t *testing.T) {
	t.Parallel()
	for name, statuses := range map[string][]common.Status{
		"the first install timed out":     {common.StatusFailed},
		"the last upgrade timed out":      {common.StatusDeployed, common.StatusFailed},
		"deployed":                        {common.StatusSuperseded, common.StatusDeployed},
		"uninstalled, with its history":   {common.StatusUninstalled},
		"another upgrade is in progress":  {common.StatusDeployed, common.StatusPendingUpgrade},
		"another install is in progress":  {common.StatusPendingInstall},
		"another rollback is in progress": {common.StatusSuperseded, common.StatusDeployed, common.StatusPendingRollback},
		"no release":                      nil,
	} {
		s, client := memoryHelm(t, statuses...)
		before := statusesOf(t, s)
		r := release{timeout: time.Minute, spec: site.Helm{Release: "r", Chart: filepath.Join(t.TempDir(), "none.tgz"), Version: "1.2.3", Namespace: "n", NoWait: true}}
		err := r.apply(t.Context(), s)
		want := "(the release was not changed)"
		if strings.Contains(before, "pending") {
			want = "wait for the other Helm operation"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
		if after := statusesOf(t, s); after != before || client.changed > 0 {
			t.Errorf("%s: the revisions were %q and are %q; %d calls changed objects", name, before, after, client.changed)
		}
	}
}

// A release is uninstalled only if its name did not exist before, and returns to the revision that was deployed.
func TestUndo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before []common.Status
		says   string
		after  string
	}{
		"no release":                   {nil, "rolled back: uninstalled", ""},
		"deployed":                     {[]common.Status{common.StatusDeployed}, "rolled back to revision 1", "superseded failed deployed"},
		"the last upgrade timed out":   {[]common.Status{common.StatusDeployed, common.StatusFailed}, "rolled back to revision 1", "superseded failed failed deployed"},
		"the first install timed out":  {[]common.Status{common.StatusFailed}, "not rolled back: none of the revisions up to 1", "failed failed"},
		"superseded, and then a crash": {[]common.Status{common.StatusSuperseded, common.StatusFailed}, "not rolled back: none of the revisions up to 2", "superseded failed failed"},
	} {
		s, client := memoryHelm(t, c.before...)
		r := release{timeout: time.Minute, spec: site.Helm{Release: "r", Chart: chartDir(t), Version: "1.2.3", Namespace: "n", NoWait: true}}
		s.KubeClient = &refusing{writes: client, cfg: s.Configuration}
		err := r.apply(t.Context(), s)
		if err == nil || !strings.Contains(err.Error(), "refused by the test") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if after := statusesOf(t, s); after != c.after {
			t.Errorf("%s: the revisions are %q, want %q", name, after, c.after)
		}
	}
}

// refusing has the objects of an install or upgrade never become ready. Those of a rollback do.
type refusing struct {
	*writes
	cfg *action.Configuration
}

var errRefused = errors.New("refused by the test")

func (r *refusing) GetWaiter(strategy kube.WaitStrategy) (kube.Waiter, error) {
	return r.GetWaiterWithOptions(strategy)
}

func (r *refusing) GetWaiterWithOptions(strategy kube.WaitStrategy, options ...kube.WaitOption) (kube.Waiter, error) {
	r.WaitError = nil
	if now, err := last(r.cfg, "r"); err == nil && (now.Info.Status == common.StatusPendingInstall || now.Info.Status == common.StatusPendingUpgrade) {
		r.WaitError = errRefused
	}
	return r.writes.GetWaiterWithOptions(strategy, options...)
}

// A revision that another program created in the meantime is not rolled back, though it has the number that this run's would have.
func TestRevisionOfAnotherProgram(t *testing.T) {
	t.Parallel()
	s, _ := memoryHelm(t, common.StatusDeployed, common.StatusPendingUpgrade)
	now, err := last(s.Configuration, "r")
	if err != nil {
		t.Fatal(err)
	}
	own := *now
	info := *now.Info
	own.Info = &info
	s.made = &own
	if mine, err := s.latest("r"); err != nil || !mine {
		t.Errorf("the run's own revision: %t, %v", mine, err)
	}
	info.LastDeployed = info.LastDeployed.Add(-time.Second)
	if mine, err := s.latest("r"); err != nil || mine {
		t.Errorf("a revision of another time: %t, %v", mine, err)
	}
}

// Runs do not add revisions for good: as many as the helm program keeps remain.
func TestRevisionsAreLimited(t *testing.T) {
	t.Parallel()
	s, _ := memoryHelm(t, common.StatusDeployed)
	r := release{timeout: time.Minute, spec: site.Helm{Release: "r", Chart: chartDir(t), Version: "1.2.3", Namespace: "n", NoWait: true}}
	for range 12 {
		if err := r.apply(context.WithoutCancel(t.Context()), s); err != nil {
			t.Fatal(err)
		}
	}
	found, err := s.Releases.History("r")
	if err != nil || len(found) != s.settings.MaxHistory || len(found) == 0 {
		t.Errorf("%d revisions, %v; want %d", len(found), err, s.settings.MaxHistory)
	}
}

// Variables for another pipeline of the machine sent the release to another cluster than the one that the gate judges.
func TestClusterIsThatOfTheKubeconfig(t *testing.T) {
	for name, value := range map[string]string{
		"HELM_KUBEAPISERVER": "https://other:1", "HELM_KUBETOKEN": "other", "HELM_KUBEASUSER": "other", "HELM_KUBEASGROUPS": "other", "HELM_KUBECONTEXT": "other",
		"HELM_KUBECAFILE": "/other", "HELM_KUBETLS_SERVER_NAME": "other", "HELM_KUBEINSECURE_SKIP_TLS_VERIFY": "true", "HELM_NAMESPACE": "other",
	} {
		t.Setenv(name, value)
	}
	settings := settingsOf("n")
	settings.KubeConfig = kubeconfigOf(t, "https://own:6443")
	config, err := settings.RESTClientGetter().ToRESTConfig()
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://own:6443" || config.BearerToken != "own" || config.Impersonate.UserName+strings.Join(config.Impersonate.Groups, "") != "" ||
		config.CAFile != "" || config.ServerName != "" || config.Insecure || settings.Namespace() != "n" {
		t.Errorf("the cluster is %s, namespace %s", config.Host, settings.Namespace())
	}
}
