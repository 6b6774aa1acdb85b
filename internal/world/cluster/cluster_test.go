package cluster_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"

	"github.com/firstlight/firstlight/internal/lab/pki"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// TestWorldOnALab runs all parts on one lab in sequence; each part restores the cluster.
func TestWorldOnALab(t *testing.T) { //nolint:tparallel // the parts share one lab
	t.Parallel()
	b := start(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *bench)
	}{
		{"nodes", nodesAreThere},
		{"telemetry", telemetryIsThere},
		{"collective", collectiveRuns},
		{"pair", pairRuns},
		{"training", trainingRuns},
		{"load", loadIsSeen},
		{"inference", inferenceServes},
		{"crash loop", crashLoops},
		{"follow", followEnds},
		{"kubelet ports", kubeletPortsWantCredentials},
		{"claims", claimsAreHonoured},
		{"stack faults", stackFaults},
		{"deleted pod", deletedPodGivesBack},
		{"restarted API server", survivesRestart},
	} {
		t.Run(part.name, func(t *testing.T) {
			part.run(t, b)
			if n := b.occupied(); n != 0 {
				t.Errorf("%d GPUs are still held", n)
			}
		})
	}
}

func nodesAreThere(t *testing.T, b *bench) {
	list, err := b.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: "nvidia.com/gpu.present=true"})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != 4 {
		t.Fatalf("%d GPU nodes, want 4", len(list.Items))
	}
	for i, n := range list.Items {
		gpus, rdma := n.Status.Allocatable["nvidia.com/gpu"], n.Status.Allocatable["rdma/ib"]
		if gpus.Value() != 8 || rdma.Value() != 8 || len(n.Spec.Taints) != 1 || n.Labels["nvidia.com/gpu.product"] != "NVIDIA-H100-80GB-HBM3" {
			t.Errorf("node %s: %v, taints %v, labels %v", n.Name, n.Status.Allocatable, n.Spec.Taints, n.Labels)
		}
		internal := ""
		for _, a := range n.Status.Addresses {
			if a.Type == corev1.NodeInternalIP {
				internal = a.Address
			}
		}
		if want := fmt.Sprintf("%s.%d", b.info.Subnet, 2+i); internal != want {
			t.Errorf("node %s: InternalIP %s, want %s", n.Name, internal, want)
		}
	}
}

func telemetryIsThere(t *testing.T, b *bench) {
	polltest.UntilNil(t, "a series per GPU", func() error {
		series := b.query(t, `DCGM_FI_DEV_GPU_UTIL`)
		hosts := map[string]int{}
		for _, s := range series {
			hosts[s.Metric["Hostname"]]++
		}
		if len(series) != 32 || len(hosts) != 4 || hosts["gpu-03"] != 8 {
			return fmt.Errorf("%d series, hosts %v", len(series), hosts)
		}
		return nil
	})
}

func collectiveJob(name string, nodes int) job {
	return job{
		name: name, container: "nccl-tests", script: `mpirun all_reduce_perf -b $MIN_BYTES -e $MAX_BYTES -f 2 -g 1`, pods: nodes, gpus: 8,
		env: map[string]string{
			"MIN_BYTES": "8M", "MAX_BYTES": "16G", "REPETITIONS": "3", "GPUS_PER_NODE": "8", "NNODES": fmt.Sprint(nodes),
			"NCCL_DEBUG": "INFO", "NCCL_IB_HCA": "=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7",
		},
	}
}

func collectiveRuns(t *testing.T, b *bench) {
	begin := time.Now()
	b.run(t, collectiveJob("nccl", 4))
	logs := b.finish(t, "nccl", batchv1.JobComplete)
	t.Logf("collective of three repetitions over four nodes: %s, %d bytes of log", time.Since(begin).Round(time.Millisecond), len(logs["0"]))
	contains(t, logs["0"], "on     nccl-3 device  7", "Connected all rings, use ring PXN 0 GDR 1", "# Out of bounds values : 0 OK", "via NET/IB/7/GDRDMA")
	if n := strings.Count(logs["0"], "# Collective test concluded"); n != 3 {
		t.Errorf("%d repetitions in the log, want 3", n)
	}
	if logs["1"] != "" {
		t.Errorf("rank daemons logged %q", logs["1"])
	}
	if n := b.occupied(); n != 0 {
		t.Errorf("%d GPUs held by an ended job", n)
	}
	for _, p := range b.pods(t, "nccl") {
		s := p.Status
		if s.Phase != corev1.PodSucceeded || s.ContainerStatuses[0].State.Terminated == nil || s.ContainerStatuses[0].State.Terminated.Reason != "Completed" {
			t.Errorf("pod %s: %+v", p.Name, s)
		}
	}
	b.remove(t, "nccl")
	polltest.UntilNil(t, "log objects and files to go", func() error {
		list, err := b.dyn.Resource(schema.GroupVersionResource{Group: "kwok.x-k8s.io", Version: "v1alpha1", Resource: "logs"}).Namespace("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		files, err := filepath.Glob(filepath.Join(b.dir, "pods", "default_*"))
		if len(list.Items) != 0 || len(files) != 0 {
			return fmt.Errorf("%d objects, %d directories remain: %w", len(list.Items), len(files), err)
		}
		return nil
	})
}

func pairRuns(t *testing.T, b *bench) {
	defer b.fault(t, world.Fault{Kind: "data-corruption", Target: "cluster"})()
	b.run(t, collectiveJob("pair", 2))
	logs := b.finish(t, "pair", batchv1.JobFailed)
	contains(t, logs["0"], "FAILED")
	b.remove(t, "pair")
}

func trainingRuns(t *testing.T, b *bench) {
	begin := time.Now()
	b.run(t, job{
		name: "train", container: "trainer", script: "echo gpu matmul; torchrun --nnodes $NNODES -m torchtitan.train", pods: 4, gpus: 8,
		env: map[string]string{"FRAMEWORK": "torchtitan", "MODEL": "llama3_8b", "STEPS": "60", "NNODES": "4", "GPUS_PER_NODE": "8"},
	})
	logs := b.finish(t, "train", batchv1.JobComplete)
	t.Logf("training of 60 steps: %s", time.Since(begin).Round(time.Millisecond))
	for i := range 4 {
		contains(t, logs[fmt.Sprint(i)], fmt.Sprintf("[rank%d]:[titan]", 8*i), fmt.Sprintf(`gpu matmul: {"rank": %d, "device": 7,`, 8*i+7), "step: 60", "Training completed")
	}
	b.remove(t, "train")
}

func loadIsSeen(t *testing.T, b *bench) {
	b.run(t, job{name: "load", container: "load", script: "dcgmproftester13 --no-dcgm-validation -t 1004 -d $DURATION", pods: 4, gpus: 8, env: map[string]string{"DURATION": "600"}})
	polltest.UntilNil(t, "utilisation to rise on every GPU, with the pod's name", func() error {
		n := len(b.query(t, `DCGM_FI_DEV_GPU_UTIL{pod=~"load-.*",namespace="default",container="load"} > 90`))
		power := len(b.query(t, `DCGM_FI_DEV_POWER_USAGE > 600`))
		if n != 32 || power != 32 {
			return fmt.Errorf("%d GPUs busy, %d hot", n, power)
		}
		return nil
	})
	b.remove(t, "load")
	polltest.UntilNil(t, "utilisation to fall", func() error {
		if n := len(b.query(t, `DCGM_FI_DEV_GPU_UTIL == 0`)); n != 32 {
			return fmt.Errorf("%d GPUs idle", n)
		}
		return nil
	})
}

func inferenceJob(name string) job {
	return job{
		name: name, container: "vllm", script: "vllm serve $MODEL --port 8000 --max-model-len $MAX_MODEL_LEN --tensor-parallel-size $TP", pods: 1, gpus: 1, port: 8000,
		env: map[string]string{"MODEL": "meta-llama/Llama-3.1-8B-Instruct", "MAX_MODEL_LEN": "8192", "TP": "1"},
	}
}

func inferenceServes(t *testing.T, b *bench) {
	b.run(t, inferenceJob("serve"))
	var base string
	// client-go ends a port forward when one connection over it fails, as to a server that does not
	// listen yet: each try has its own. Regression: in November 2026 the first one was kept.
	polltest.UntilNil(t, "the server behind a forwarded port to be healthy", func() error {
		pods := b.pods(t, "serve")
		if len(pods) == 0 || pods[0].Status.Phase != corev1.PodRunning {
			return errors.New("not running")
		}
		var err error
		if base, err = b.forward(t, pods[0].Name); err != nil {
			return err
		}
		resp, err := plain.Get(base + "/health")
		if err != nil {
			return err
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return errors.New(resp.Status)
		}
		return nil
	})
	resp, err := plain.Post(base+"/v1/completions", "application/json", strings.NewReader(`{"prompt":"The capital of France is","max_tokens":8,"temperature":0}`))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	contains(t, string(body), `"text":" Paris. It is`)
	contains(t, b.logs(t, b.pods(t, "serve")[0].Name, &corev1.PodLogOptions{}), "Application startup complete.")
	b.remove(t, "serve")
}

// plain is a client that keeps no connection.
var plain = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// forward opens a port forward to a pod's port 8000 until the test ends.
func (b *bench) forward(t *testing.T, pod string) (base string, err error) {
	t.Helper()
	transport, upgrader, err := spdy.RoundTripperFor(b.info.RestConfig)
	if err != nil {
		t.Fatal(err)
	}
	req := b.client.CoreV1().RESTClient().Post().Resource("pods").Namespace("default").Name(pod).SubResource("portforward")
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, req.URL())
	stop, ready := make(chan struct{}), make(chan struct{})
	fw, err := portforward.New(dialer, []string{"0:8000"}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var ended error
	done := make(chan struct{})
	go func() { defer close(done); ended = fw.ForwardPorts() }()
	t.Cleanup(func() { close(stop); <-done })
	select {
	case <-ready:
	case <-done:
		return "", ended
	}
	ports, err := fw.GetPorts()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("http://127.0.0.1:%d", ports[0].Local), nil
}

func crashLoops(t *testing.T, b *bench) {
	defer b.fault(t, world.Fault{Kind: "vllm-max-model-len"})()
	j := inferenceJob("crash")
	j.policy = corev1.RestartPolicyOnFailure
	b.run(t, j)
	var pod corev1.Pod
	polltest.UntilNil(t, "the pod to crash-loop", func() error {
		pods := b.pods(t, "crash")
		if len(pods) != 1 || len(pods[0].Status.ContainerStatuses) != 1 {
			return errors.New("no status")
		}
		pod = pods[0]
		s := pod.Status.ContainerStatuses[0]
		if s.RestartCount < 2 || s.State.Waiting == nil || s.State.Waiting.Reason != "CrashLoopBackOff" || s.Ready {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
	if pod.Status.Phase != corev1.PodRunning || pod.Status.ContainerStatuses[0].LastTerminationState.Terminated.ExitCode != 1 {
		t.Errorf("status %+v", pod.Status)
	}
	for _, previous := range []bool{false, true} {
		contains(t, b.logs(t, pod.Name, &corev1.PodLogOptions{Previous: previous}), "ValueError: The model's max seq len (8192) is larger than the maximum number of tokens that can be stored in KV cache")
	}
	b.remove(t, "crash")
	b.run(t, inferenceJob("crash-once"))
	logs := b.finish(t, "crash-once", batchv1.JobFailed)
	contains(t, logs["0"], "ValueError: The model's max seq len")
	b.remove(t, "crash-once")
}

func followEnds(t *testing.T, b *bench) {
	b.run(t, collectiveJob("follow", 1))
	polltest.UntilNil(t, "the pod to run", func() error {
		if pods := b.pods(t, "follow"); len(pods) != 1 || pods[0].Status.Phase == corev1.PodPending {
			return errors.New("not yet")
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stream, err := b.client.CoreV1().Pods("default").GetLogs(b.pods(t, "follow")[0].Name, &corev1.PodLogOptions{Follow: true}).Stream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	text, err := io.ReadAll(stream)
	if err != nil {
		t.Errorf("the follow did not end: %v", err)
	}
	if n := bytes.Count(text, []byte("# Collective test concluded")); n != 3 {
		t.Errorf("%d repetitions followed, want 3", n)
	}
	if !bytes.HasSuffix(text, []byte("\n")) || bytes.Contains(text, []byte("failed to")) {
		t.Errorf("the follow ends in %q", text[max(0, len(text)-200):])
	}
	b.remove(t, "follow")
}

// Only the API server can read a pod's log; processes without credentials cannot read it from the
// kubelet ports. Regression: until November 2026 kwok's port served it to all.
func kubeletPortsWantCredentials(t *testing.T, b *bench) {
	b.run(t, collectiveJob("private", 1))
	logs := b.finish(t, "private", batchv1.JobComplete)
	const secret = "# Collective test concluded"
	contains(t, logs["0"], secret)
	pod := b.pods(t, "private")[0]
	node, err := b.client.CoreV1().Nodes().Get(t.Context(), pod.Spec.NodeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	host, _, err := net.SplitHostPort(b.info.Kubelet)
	if err != nil {
		t.Fatal(err)
	}
	proxy := net.JoinHostPort(host, strconv.Itoa(int(node.Status.DaemonEndpoints.KubeletEndpoint.Port)))
	certificates := pki.Dir(filepath.Dir(b.info.CA))
	path := "/containerLogs/default/" + pod.Name + "/nccl-tests"
	for name, ask := range map[string]struct {
		url, identity string
		status        int // 0: refused without a response
	}{
		"kwok, plain":                      {"http://" + b.info.Kubelet + path, "", http.StatusBadRequest},
		"kwok, TLS":                        {"https://" + b.info.Kubelet + path, "", http.StatusBadRequest},
		"kwok, with the API server's":      {"https://" + b.info.Kubelet + path, pki.KubeletClient, http.StatusBadRequest},
		"the world, plain":                 {"http://" + proxy + path, "", http.StatusBadRequest},
		"the world, TLS":                   {"https://" + proxy + path, "", 0},
		"the world, with another program":  {"https://" + proxy + path, pki.Prometheus, http.StatusForbidden},
		"the world, with the API server's": {"https://" + proxy + path, pki.KubeletClient, http.StatusOK},
	} {
		status, body := askKubelet(t, certificates, ask.url, ask.identity)
		if status != ask.status || strings.Contains(body, secret) != (ask.status == http.StatusOK) {
			t.Errorf("%s: status %d, want %d; answer %.300q", name, status, ask.status, body)
		}
	}
	b.remove(t, "private")
}

// askKubelet sends a request with the certificate of an identity, or without one. Status 0: no
// response.
func askKubelet(t *testing.T, certificates pki.Dir, url, identity string) (status int, body string) {
	t.Helper()
	config := &tls.Config{InsecureSkipVerify: true}
	if identity != "" {
		pair, err := tls.LoadX509KeyPair(certificates.Cert(identity), certificates.Key(identity))
		if err != nil {
			t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: config}}
	resp, err := client.Get(url)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

func stackFaults(t *testing.T, b *bench) {
	suite.Require(t, suite.All) // the gates fail of two of them for every change: internal/e2e
	allocatable := func(node, res string) func() int64 {
		return func() int64 {
			n, err := b.client.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			q := n.Status.Allocatable[corev1.ResourceName(res)]
			return q.Value()
		}
	}
	is := func(got func() int64, want int64) func() error {
		return func() error {
			if n := got(); n != want {
				return fmt.Errorf("%d, want %d", n, want)
			}
			return nil
		}
	}
	condition := func(kind, reason string) func() error {
		return func() error {
			obj, err := b.dyn.Resource(schema.GroupVersionResource{Group: "nvidia.com", Version: "v1", Resource: "clusterpolicies"}).Get(t.Context(), "cluster-policy", metav1.GetOptions{})
			if err != nil {
				return err
			}
			list, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
			for _, c := range list {
				if m, ok := c.(map[string]any); ok && m["type"] == kind && m["reason"] == reason {
					return nil
				}
			}
			return fmt.Errorf("conditions %v", list)
		}
	}
	polltest.UntilNil(t, "the healthy policy", condition("Ready", "Reconciled"))
	tests := []struct {
		fault     world.Fault
		seen, not func() error
	}{
		{world.Fault{Kind: "gpu-off-bus", Target: "gpu-02/gpu3"}, is(allocatable("gpu-02", "nvidia.com/gpu"), 7), is(allocatable("gpu-02", "nvidia.com/gpu"), 8)},
		{world.Fault{Kind: "rdma-resource-missing", Target: "gpu-03"}, is(allocatable("gpu-03", "rdma/ib"), 0), is(allocatable("gpu-03", "rdma/ib"), 8)},
		{world.Fault{Kind: "operator-operand-not-ready", Target: "gpu-02"}, condition("Error", "OperandNotReady"), condition("Ready", "Reconciled")},
		{world.Fault{Kind: "zero-gpu-nodes"}, condition("Ready", "NoGPUNodes"), condition("Ready", "Reconciled")},
		{world.Fault{Kind: "exporter-down", Target: "gpu-02"}, func() error {
			if n := len(b.query(t, "DCGM_FI_DEV_GPU_UTIL")); n != 24 {
				return fmt.Errorf("%d series", n)
			}
			return nil
		}, func() error {
			if n := len(b.query(t, "DCGM_FI_DEV_GPU_UTIL")); n != 32 {
				return fmt.Errorf("%d series", n)
			}
			return nil
		}},
		// Counted by GPU: on a busy machine, series of replaced operator pods (zero-gpu-nodes)
		// could still exist.
		{world.Fault{Kind: "stale-series", Target: "gpu-03"}, func() error {
			if n := len(b.query(t, `count by (UUID) (time() - timestamp(DCGM_FI_DEV_GPU_UTIL{Hostname="gpu-03"}) > 4)`)); n != 8 {
				return fmt.Errorf("%d stale series", n)
			}
			return nil
		}, func() error {
			if n := len(b.query(t, `count by (UUID) (time() - timestamp(DCGM_FI_DEV_GPU_UTIL) < 3)`)); n != 32 {
				return fmt.Errorf("%d fresh series", n)
			}
			return nil
		}},
	}
	for _, tt := range tests {
		t.Run(tt.fault.Kind, func(t *testing.T) {
			repair := b.fault(t, tt.fault)
			polltest.UntilNil(t, "the fault to be seen", tt.seen)
			b.await(t)
			repair()
			polltest.UntilNil(t, "the repair to be seen", tt.not)
			b.await(t)
		})
	}
}

func deletedPodGivesBack(t *testing.T, b *bench) {
	b.run(t, job{name: "gone", container: "gang-probe", script: "sleep infinity", pods: 2, gpus: 8})
	polltest.UntilNil(t, "GPUs to be held", func() error {
		if n := b.occupied(); n != 16 {
			return fmt.Errorf("%d GPUs", n)
		}
		return nil
	})
	b.remove(t, "gone")
	polltest.UntilNil(t, "GPUs to be free", func() error {
		if n := b.occupied(); n != 0 {
			return fmt.Errorf("%d GPUs", n)
		}
		return nil
	})
}

func survivesRestart(t *testing.T, b *bench) {
	if err := b.lab.SetNoGangScheduler(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	b.run(t, collectiveJob("after", 4))
	contains(t, b.finish(t, "after", batchv1.JobComplete)["0"], "# Out of bounds values : 0 OK")
	b.remove(t, "after")
	if err := b.lab.SetNoGangScheduler(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	b.await(t)
}
