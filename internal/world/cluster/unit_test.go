package cluster

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/worldtest"
)

func bash(script string, env ...corev1.EnvVar) corev1.Container {
	return corev1.Container{Name: "c", Command: []string{"/bin/bash", "-ec", script}, Env: env}
}

func TestRecognise(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]kind{
		"mpirun -np 32 all_reduce_perf -b 8M":        kindCollective,
		"torchrun -m torchtitan.train":               kindTraining,
		"torchrun pretrain_gpt.py":                   kindTraining,
		"exec dcgmproftester13 -t 1004 -d $DURATION": kindLoad,
		"vllm serve $MODEL --port 8000":              kindInference,
		"exec python3 - <<'E'\nThreadingHTTPServer":  kindResponder,
		"sleep infinity":                             kindOther,
		"python -c 'print(\"an unknown program\")'":  kindOther,
	} {
		if got := recognise(bash(script)); got != want {
			t.Errorf("recognise(%q) = %q, want %q", script, got, want)
		}
	}
	if got := recognise(corev1.Container{Image: "nvcr.io/nvidia/k8s/dcgm-exporter:4.4.2-4.7.0-distroless"}); got != kindExporter {
		t.Errorf("recognise(the exporter's image) = %q", got)
	}
	if f := framework(bash("torchrun pretrain_gpt.py"), nil); f != "megatron" {
		t.Errorf("framework = %q", f)
	}
	if f := framework(bash("x"), environment{"FRAMEWORK": "Torchtitan"}); f != "torchtitan" {
		t.Errorf("framework = %q", f)
	}
}

func TestEnvironmentNumbers(t *testing.T) {
	t.Parallel()
	env := environmentOf(bash("", corev1.EnvVar{Name: "A", Value: "4"}, corev1.EnvVar{Name: "B", Value: "x"}, corev1.EnvVar{Name: "C", Value: "0"}))
	for _, tt := range []struct {
		name string
		def  int
		want int
		ok   bool
	}{{"A", 1, 4, true}, {"B", 1, 0, false}, {"C", 1, 0, false}, {"D", 7, 7, true}, {"D", 0, 0, false}} {
		got, ok := env.number(tt.name, tt.def)
		if ok != tt.ok || (ok && got != tt.want) {
			t.Errorf("number(%s, %d) = %d, %v; want %d, %v", tt.name, tt.def, got, ok, tt.want, tt.ok)
		}
	}
}

func TestPodLogFormat(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "0.log")
	at := time.Date(2026, 11, 21, 10, 0, 0, 5, time.UTC)
	l, err := createPodLog(path, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", maxLogLine+3)
	for _, part := range []string{"one\ntw", "o\n", long + "\n", "no end"} {
		if _, err := l.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	stamp := "2026-11-21T10:00:00.000000005Z stdout "
	want := stamp + "F one\n" + stamp + "F two\n" + stamp + "P " + long[:maxLogLine] + "\n" + stamp + "F xxx\n" + stamp + "F no end\n"
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// The current file of a rotated log begins with the write after the limit was passed, and is never empty.
func TestPodLogRotates(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "0.log")
	l, err := createPodLog(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	l.maxBytes = 100
	var begins []int64 // of each write
	for range 9 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		begins = append(begins, info.Size())
		if _, err := l.Write([]byte(strings.Repeat("x", 40) + "\n")); err != nil { // 75 bytes or more with its stamp
			t.Fatal(err)
		}
	}
	if got := l.rotated(); got == 0 || got != begins[8] && got != begins[7] {
		t.Errorf("rotated at %d, want the beginning of one of the last writes: %v", got, begins)
	}
	l.maxBytes, l.current = 0, 0
	if _, err := l.Write([]byte("x\n")); err != nil || l.rotated() != 0 {
		t.Errorf("rotated at %d without a limit, %v", l.rotated(), err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNodeByFault(t *testing.T) {
	t.Parallel()
	spec := world.DefaultSpec(4)
	for i := range spec.GPUNodes {
		spec.GPUNodes[i].Address = "127.9.9.9:22"
	}
	tests := []struct {
		kind, target         string
		capacity, gpus, rdma int64
		present              bool
	}{
		{"", "", 8, 8, 8, true},
		{"gpu-off-bus", "gpu-02/gpu3", 8, 7, 8, true},
		{"gpu-count-short", "gpu-02/gpu3", 7, 7, 8, true},
		{"rdma-resource-missing", "gpu-02", 8, 8, 0, true},
		{"zero-gpu-nodes", "", 8, 0, 8, false},
	}
	for _, tt := range tests {
		t.Run(tt.kind, func(t *testing.T) {
			t.Parallel()
			w, err := world.New(spec, worldtest.Shared(t))
			if err != nil {
				t.Fatal(err)
			}
			if tt.kind != "" {
				f := world.Fault{Kind: tt.kind, Target: tt.target}
				if _, err := w.AddFault(f); err != nil {
					f.Target = "gpu-02" // a fault of a node
					if _, err := w.AddFault(f); err != nil {
						t.Fatal(err)
					}
				}
			}
			state := w.State()
			host, _ := state.Node("gpu-02")
			n := desiredNode(state, host)
			capacity, gpus, rdma := n.Status.Capacity[gpuResource], n.Status.Allocatable[gpuResource], n.Status.Allocatable["rdma/ib"]
			_, present := n.Labels["nvidia.com/gpu.present"]
			if capacity.Value() != tt.capacity || gpus.Value() != tt.gpus || rdma.Value() != tt.rdma || present != tt.present {
				t.Errorf("capacity %d, GPUs %d, RDMA %d, labelled %v", capacity.Value(), gpus.Value(), rdma.Value(), present)
			}
			if n.Labels["feature.node.kubernetes.io/pci-10de.present"] == "true" != tt.present {
				t.Error("NFD's label disagrees")
			}
		})
	}
}

// Disk pressure sets kwok's condition, and its end resets it.
func TestDiskPressure(t *testing.T) {
	t.Parallel()
	w, err := world.New(world.DefaultSpec(1), worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	desired := func() *corev1.Node { s := w.State(); return desiredNode(s, s.Nodes[0]) }
	have := desired()
	have.Status.Conditions = []corev1.NodeCondition{
		{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"},
		{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure"},
	}
	if !(&nodes{}).upToDate(have, desired()) {
		t.Error("a healthy node is out of date")
	}
	if _, err := w.AddFault(world.Fault{Kind: "disk-pressure"}); err != nil {
		t.Fatal(err)
	}
	if (&nodes{}).upToDate(have, desired()) {
		t.Fatal("a node short of disk is up to date without the condition")
	}
	setStatus(have, desired())
	c := have.Status.Conditions
	if !(&nodes{}).upToDate(have, desired()) || c[0].Status != corev1.ConditionTrue || c[1].Status != corev1.ConditionTrue || c[1].Reason != "KubeletHasDiskPressure" || c[1].LastTransitionTime.IsZero() {
		t.Errorf("%+v", c)
	}
	w.ClearAll()
	setStatus(have, desired())
	if c := have.Status.Conditions[1]; c.Status != corev1.ConditionFalse || !(&nodes{}).upToDate(have, desired()) {
		t.Errorf("after the repair: %+v", c)
	}
}

// A taint of deletion and a condition of node-problem-detector come and go with their faults.
func TestNodeObjectFaults(t *testing.T) {
	t.Parallel()
	for kind, shown := range map[string]func(n *corev1.Node) bool{
		"node-tainted": func(n *corev1.Node) bool {
			return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == deletionTaint })
		},
		"node-kernel-deadlock": func(n *corev1.Node) bool {
			return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
				return c.Type == "KernelDeadlock" && c.Status == corev1.ConditionTrue
			})
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w, err := world.New(world.DefaultSpec(1), worldtest.Shared(t))
			if err != nil {
				t.Fatal(err)
			}
			desired := func() *corev1.Node { s := w.State(); return desiredNode(s, s.Nodes[0]) }
			have := desired()
			if !(&nodes{}).upToDate(have, desired()) || shown(have) {
				t.Fatalf("a healthy node is out of date, or shows the fault: %+v", have)
			}
			if _, err := w.AddFault(world.Fault{Kind: kind, Target: "gpu-01"}); err != nil {
				t.Fatal(err)
			}
			for _, want := range []bool{true, false} {
				if (&nodes{}).upToDate(have, desired()) {
					t.Fatalf("up to date before the change, want the fault shown: %v", want)
				}
				setStatus(have, desired())
				setMeta(have, desired(), ownedLabel)
				if !(&nodes{}).upToDate(have, desired()) || shown(have) != want {
					t.Fatalf("the fault is shown: %v, want %v: %+v", shown(have), want, have)
				}
				w.ClearAll()
			}
		})
	}
}

// getent prints an address per socket type and the full name; without DNS the script prints its
// message with getent's exit code.
func TestResolver(t *testing.T) {
	t.Parallel()
	const script = "getent ahosts kubernetes.default || echo \"none: $?\"\nsleep infinity"
	for name, tt := range map[string]struct {
		fault, script, want string
	}{
		"healthy":           {"", script, "10.96.0.1       STREAM kubernetes.default.svc.cluster.local\n10.96.0.1       DGRAM  \n10.96.0.1       RAW    \n"},
		"no DNS":            {"dns-broken", script, "none: 2\n"},
		"no such Service":   {"", strings.Replace(script, "kubernetes.", "other.", 1), "none: 2\n"},
		"nothing complains": {"dns-broken", "getent ahosts kubernetes.default", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, err := world.New(world.DefaultSpec(1), worldtest.Shared(t))
			if err != nil {
				t.Fatal(err)
			}
			if tt.fault != "" {
				if _, err := w.AddFault(world.Fault{Kind: tt.fault}); err != nil {
					t.Fatal(err)
				}
			}
			client := fake.NewClientset(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "kubernetes", Namespace: "default"}, Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.1"}})
			pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "gpu-01", Containers: []corev1.Container{bash(tt.script)}}}
			r := &runtime{world: w, client: client, life: t.Context()}
			worker := newWorker(r, pod)
			if worker.kind != kindResolver {
				t.Errorf("recognised as %q", worker.kind)
			}
			var out strings.Builder
			said := writerFunc(func(p []byte) (int, error) {
				worker.cancel() // ends the sleep
				return out.Write(p)
			})
			if code, err := worker.resolver(said); code != 0 || err != nil || out.String() != tt.want {
				t.Errorf("%d, %v: %q, want %q", code, err, out.String(), tt.want)
			}
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestNodeKeepsForeignFields(t *testing.T) {
	t.Parallel()
	spec := world.DefaultSpec(1)
	spec.GPUNodes[0].Address = "127.9.9.9:22"
	w, err := world.New(spec, worldtest.Shared(t))
	if err != nil {
		t.Fatal(err)
	}
	state := w.State()
	want := desiredNode(state, state.Nodes[0])
	have := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Labels:      map[string]string{"team": "a", "nvidia.com/old": "b"},
		Annotations: map[string]string{holdAnnotation: "not-ready", "other": "c"},
	}}
	have.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeExternalDNS, Address: "127.9.9.1"}, {Type: corev1.NodeInternalIP, Address: "127.9.9.1"}}
	if (&nodes{}).upToDate(have, want) {
		t.Fatal("an unfinished node counts as up to date")
	}
	setStatus(have, want)
	setMeta(have, want, ownedLabel)
	if !(&nodes{}).upToDate(have, want) {
		t.Error("a finished node counts as out of date")
	}
	if have.Labels["team"] != "a" || have.Labels["nvidia.com/old"] != "" || have.Annotations["other"] != "c" || have.Annotations[holdAnnotation] != "" {
		t.Errorf("labels %v, annotations %v", have.Labels, have.Annotations)
	}
	if diff := cmp.Diff([]corev1.NodeAddress{{Type: corev1.NodeExternalDNS, Address: "127.9.9.1"}, {Type: corev1.NodeInternalIP, Address: "127.9.9.9"}, {Type: corev1.NodeHostName, Address: "gpu-01"}}, have.Status.Addresses); diff != "" {
		t.Error(diff)
	}
}

func TestStatusOfEndedPods(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "i"}}}}
	now := time.Now()
	for exit, want := range map[int]struct {
		phase  corev1.PodPhase
		reason string
	}{0: {corev1.PodSucceeded, "Completed"}, 3: {corev1.PodFailed, "Error"}} {
		s := ended(pod, exit, 2, now, now)
		end := s.ContainerStatuses[0].State.Terminated
		if s.Phase != want.phase || end.ExitCode != int32(exit) || end.Reason != want.reason || s.ContainerStatuses[0].RestartCount != 2 {
			t.Errorf("exit %d: %+v", exit, s)
		}
	}
	for _, tt := range []struct {
		policy corev1.RestartPolicy
		exit   int
		want   bool
	}{{corev1.RestartPolicyNever, 1, false}, {corev1.RestartPolicyOnFailure, 1, true}, {corev1.RestartPolicyOnFailure, 0, false}, {corev1.RestartPolicyAlways, 0, true}} {
		if got := again(tt.policy, tt.exit); got != tt.want {
			t.Errorf("again(%s, %d) = %v", tt.policy, tt.exit, got)
		}
	}
}

func TestGang(t *testing.T) {
	t.Parallel()
	all := newGangs()
	g, leave := all.join("job", member{index: 0, host: "a"})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan []member, 1)
	go func() {
		m, err := g.complete(t.Context(), 2)
		if err != nil {
			t.Error(err)
		}
		done <- m
	}()
	same, leave1 := all.join("job", member{index: 1, host: "b"})
	if same != g {
		t.Fatal("one job, two gangs")
	}
	if m := <-done; len(m) != 2 || m[1].host != "b" {
		t.Errorf("members %+v", m)
	}
	cancel()
	if _, err := g.complete(ctx, 3); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v for a gang that is incomplete", err)
	}
	if err := g.ended(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v before rank 0 has ended", err)
	}
	g.end()
	if err := g.ended(t.Context()); err != nil {
		t.Error(err)
	}
	leave()
	leave1()
	if len(all.all) != 0 {
		t.Error("an empty gang exists")
	}
}

func TestLogOptions(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	for query, want := range map[string]struct{ current, follows bool }{"follow=true": {true, true}, "": {true, false}, "follow=true&previous=true": {}} {
		q, _ := url.ParseQuery(query)
		if o, err := parseLogOptions(q, now); err != nil || (o != nil) != want.current || want.current && o.follow != want.follows {
			t.Errorf("%q: %+v, %v", query, o, err)
		}
	}
	q, _ := url.ParseQuery("follow=true&tailLines=5&limitBytes=9&sinceSeconds=60&timestamps=true")
	o, err := parseLogOptions(q, now)
	if err != nil || *o.tail != 5 || *o.limit != 9 || !o.since.Equal(now.Add(-time.Minute)) || !o.timestamps {
		t.Errorf("%+v, %v", o, err)
	}
	for _, query := range []string{"tailLines=x", "limitBytes=-1", "sinceSeconds=0", "sinceTime=yesterday"} {
		q, _ := url.ParseQuery("follow=true&" + query)
		if _, err := parseLogOptions(q, now); err == nil {
			t.Errorf("%q was accepted", query)
		}
	}
}
