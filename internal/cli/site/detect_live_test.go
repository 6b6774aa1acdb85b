package site

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/cli/clitest"
	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/detect"
	"github.com/firstlight/firstlight/internal/detect/detecttest"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// TestDetect: the file that site detect writes for a lab is refused by site check, with the line
// of each TODO; with the answers of the lab's own site it is valid, has the same cluster, and gate
// gpustack passes with it.
func TestDetect(t *testing.T) {
	suite.Live(t)
	oneGPU, err := world.SpecOf("a3-highgpu-1g", 1)
	if err != nil {
		t.Fatal(err)
	}
	mixed := world.DefaultSpec(4)
	for i := range mixed.GPUNodes[2:] {
		mixed.GPUNodes[2+i].Hardware = "h200-sxm-ndr400"
	}
	for name, tt := range map[string]struct {
		spec world.Spec
		// profile is that of the file; empty for a TODO that proposes the lab's.
		profile string
	}{
		"two nodes with a fabric": {world.DefaultSpec(2), ""},
		"one GPU without one":     {oneGPU, "a3-highgpu-1g"},
		"nodes of two kinds":      {mixed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := labtest.Start(t, tt.spec)
			l.Retire() // the test changes nodes and Services
			written := runDetect(t, l)
			if (tt.profile == "") == (profileOf(written) == l.Site.Profile) || tt.profile == "" && !strings.Contains(written, l.Site.Profile) {
				t.Errorf("profile %q of a lab of %s", profileOf(written), l.Site.Profile)
			}
			s := complete(t, l, written)
			compare(t, l, s)
			p, err := profile.Load(s.Profile)
			if err != nil {
				t.Fatal(err)
			}
			for i, of := range s.Views(p) { // as the playbook does
				g := gpustack.New(of.Site, of.Profile, gpustack.Deps{Cluster: l.Open, RunID: fmt.Sprintf("detect-%d", i)})
				rec := &labtest.Recorder{T: t}
				if err := g.Observe(t.Context(), rec); err != nil {
					t.Fatal(err)
				}
				if j := g.Judge(rec.Observations()); j.Verdict != check.Passed {
					t.Errorf("gate gpustack with the site, %s: %s: %s %+v", of.Name, j.Verdict, j.Reason, j.Findings)
				}
			}
			readsOnly(t, l)
			followsTheCluster(t, l)
		})
	}
}

// runDetect runs the command on a lab, to a file and to standard output: both have the same.
func runDetect(t *testing.T, l *labtest.Lab) string {
	t.Helper()
	kubeconfig := l.Site.Reach.Kubernetes.Kubeconfig
	file := filepath.Join(t.TempDir(), "site.yaml")
	if out, stderr, code := clitest.Run(t, New, "site", "detect", file, "--kubeconfig", kubeconfig); code != cmdutil.ExitPassed || out != "" || !strings.Contains(stderr, "reading nodes\n") || !strings.Contains(stderr, "TODOs to resolve") {
		t.Fatalf("exit %d: %s%s", code, out, stderr)
	}
	if _, stderr, code := clitest.Run(t, New, "site", "detect", file, "--kubeconfig", kubeconfig); code != cmdutil.ExitUsage || strings.Contains(stderr, "reading") {
		t.Errorf("detect to an existing file exits %d: %s", code, stderr)
	}
	out, stderr, code := clitest.Run(t, New, "site", "detect", "--kubeconfig", kubeconfig)
	written, err := os.ReadFile(file)
	if code != cmdutil.ExitPassed || err != nil || out != string(written) {
		t.Errorf("exit %d, %v: %s\n%s", code, err, stderr, out)
	}
	check, _, code := clitest.Run(t, New, "site", "check", file)
	if code != cmdutil.ExitUsage {
		t.Errorf("site check of a file with TODOs exits %d: %s", code, check)
	}
	for i, line := range strings.Split(out, "\n") {
		if strings.Contains(line, "# TODO: ") && !strings.Contains(check, fmt.Sprintf("%s:%d: TODO: ", file, i+1)) {
			t.Errorf("site check does not name line %d: %s", i+1, line)
		}
	}
	return out
}

func profileOf(file string) string {
	_, rest, _ := strings.Cut(file, "\nprofile: ")
	value, _, _ := strings.Cut(rest, "  #")
	return strings.Trim(value, `"`)
}

// complete answers the TODOs with the values of the lab's own site.
func complete(t *testing.T, l *labtest.Lab, written string) *site.Site {
	t.Helper()
	own := l.Site
	answers := map[string]string{
		"facility.signOff.by": own.Facility.SignOff.By, "facility.signOff.role": own.Facility.SignOff.Role, "facility.signOff.reference": own.Facility.SignOff.Reference,
		"facility.signOff.at": own.Facility.SignOff.At, "facility.signOff.expires": own.Facility.SignOff.Expires,
		"facility.power.provided": own.Facility.Power.Provided.String(), "facility.cooling.provided": own.Facility.Cooling.Provided.String(), "facility.weight.provided": own.Facility.Weight.Provided.String(),
		"reach.ssh.user": own.Reach.SSH.User, "reach.ssh.identityFile": own.Reach.SSH.IdentityFile, "reach.ssh.knownHostsFile": own.Reach.SSH.KnownHostsFile,
		"reach.prometheus.service": "monitoring/prometheus:9090", "reach.alertmanager.service": "monitoring/alertmanager:9093",
		"telemetry.receiver": own.Telemetry.Receiver, "workloads.collective.image": own.Workloads.Collective.Image, "workloads.training.image": own.Workloads.Training.Image,
		"workloads.inference.loadImage": own.Workloads.Inference.LoadImage,
	}
	if profileOf(written) == "" {
		answers["profile"] = own.Profile
		answers["fabric.switches"] = "[" + strings.Join(own.Fabric.Switches, ", ") + "]"
		answers["fabric.hcas"] = "[" + strings.Join(own.Fabric.HCAs, ", ") + "]"
		answers["fabric.links"] = fmt.Sprint(own.Fabric.Links)
	}
	for _, g := range own.Groups {
		answers["groups.h200.profile"] = g.Profile
	}
	file := filepath.Join(t.TempDir(), "prod.yaml")
	if err := os.WriteFile(file, []byte(detecttest.Answered(t, written, answers)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, stderr, code := clitest.Run(t, New, "site", "check", file); code != cmdutil.ExitPassed {
		t.Fatalf("site check of the completed file exits %d: %s%s", code, out, stderr)
	}
	s, err := site.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// compare compares the detected values with the lab's own site, which is not made by site detect.
func compare(t *testing.T, l *labtest.Lab, s *site.Site) {
	t.Helper()
	places := func(nodes []site.Node) (out []string) {
		for _, n := range nodes {
			out = append(out, n.Name+" in "+n.Rack)
		}
		slices.Sort(out)
		return out
	}
	own := l.Site
	kinds := func(groups []site.Group) (out []string) {
		for _, g := range groups {
			out = append(out, fmt.Sprint(g.Profile, g.Nodes))
		}
		return out
	}
	for what, pair := range map[string][2]any{
		"GPU nodes":          {places(s.Inventory.Nodes), places(own.Inventory.Nodes)},
		"system nodes":       {places(s.Inventory.SystemNodes), places(own.Inventory.SystemNodes)},
		"profile":            {s.Profile, own.Profile},
		"groups":             {kinds(s.Groups), kinds(own.Groups)},
		"spine":              {s.Spine, own.Spine},
		"network resource":   {s.Fabric.NetworkResource, own.Fabric.NetworkResource},
		"its count":          {s.Fabric.NetworkResourceCount, own.Fabric.NetworkResourceCount},
		"operator namespace": {s.GPUStack.Namespace, own.GPUStack.Namespace},
		"ClusterPolicy":      {s.GPUStack.ClusterPolicy, own.GPUStack.ClusterPolicy},
		"training nodes":     {s.Workloads.Training.Nodes, len(own.Inventory.Nodes)},
		"not applicable":     {len(s.NotApplicable), len(own.NotApplicable)},
		"kubeconfig":         {s.Reach.Kubernetes.Kubeconfig, own.Reach.Kubernetes.Kubeconfig},
	} {
		if fmt.Sprint(pair[0]) != fmt.Sprint(pair[1]) {
			t.Errorf("%s: %v, the lab has %v", what, pair[0], pair[1])
		}
	}
	for _, operand := range own.GPUStack.Operands {
		if !slices.Contains(s.GPUStack.Operands, operand) {
			t.Errorf("operand %s is not in %v", operand, s.GPUStack.Operands)
		}
	}
	if s.Inventory.DriverVersion == "" {
		t.Error("no driver version was seen")
	}
}

// methods counts the requests of a client by method.
type methods struct {
	next http.RoundTripper
	mu   sync.Mutex
	of   map[string]int
}

func (m *methods) RoundTrip(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	m.of[r.Method]++
	m.mu.Unlock()
	return m.next.RoundTrip(r)
}

// readsOnly checks that every request of Read has the method GET.
func readsOnly(t *testing.T, l *labtest.Lab) {
	t.Helper()
	seen := &methods{of: map[string]int{}}
	cfg := rest.CopyConfig(l.Cluster.Config)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { seen.next = next; return seen })
	cluster, err := kube.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := detect.Read(t.Context(), cluster, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if len(seen.of) != 1 || seen.of[http.MethodGet] < 6 {
		t.Errorf("requests by method: %v", seen.of)
	}
}

// followsTheCluster checks that Services and taints added to the cluster are in the next file.
func followsTheCluster(t *testing.T, l *labtest.Lab) {
	t.Helper()
	api := l.Cluster.Client.CoreV1()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "observability"}}
	if _, err := api.Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, port := range map[string]int32{"prometheus-k8s": 9090, "alertmanager-main": 9093, "prometheus-node-exporter": 9100} {
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "web", Port: port}}}}
		if name == "prometheus-node-exporter" {
			service.Spec.Ports[0].Name = "metrics"
		}
		if _, err := api.Services(namespace.Name).Create(t.Context(), service, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	node := l.Site.Inventory.Nodes[0].Name
	patch := []byte(`{"spec":{"unschedulable":true,"taints":[{"key":"dedicated","value":"train","effect":"NoSchedule"},{"key":"nvidia.com/gpu","value":"present","effect":"NoSchedule"}]}}`)
	if _, err := api.Nodes().Patch(t.Context(), node, "application/merge-patch+json", patch, metav1.PatchOptions{}); err != nil && !apierrors.IsConflict(err) {
		t.Fatal(err)
	}
	out, stderr, code := clitest.Run(t, New, "site", "detect", "--kubeconfig", l.Site.Reach.Kubernetes.Kubeconfig)
	if code != cmdutil.ExitPassed {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, want := range []string{
		// no pod is behind the Services, so that they do not answer
		"    service: observability/prometheus-k8s:9090  # TODO: check that this is the API of prometheus, found by its name and port: ",
		"    service: observability/alertmanager-main:9093  # TODO: check that this is the API of alertmanager, found by its name and port: ",
		"; cordoned", "      tolerations: [{key: dedicated, operator: Equal, value: train, effect: NoSchedule}]  # seen: ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the file lacks %q:\n%s", want, out)
		}
	}
}
