package embedded

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// bench is a lab in this process with Karpenter.
type bench struct {
	*lab.Handle
	*kube.Cluster
}

// TestLab starts one lab for all subtests.
func TestLab(t *testing.T) {
	suite.Live(t)
	b := start(t)
	t.Run("Mirror", func(t *testing.T) { testMirror(t, b) })
	t.Run("Forward", func(t *testing.T) { testForward(t, b) })
	t.Run("Rules", func(t *testing.T) { testRules(t, b) })
	t.Run("Policies", func(t *testing.T) { testPolicies(t, b) })
	// internal/e2e/chain has these faults: of the adapter and of nodes one each for every change.
	t.Run("Adapter", func(t *testing.T) {
		suite.Require(t, suite.All)
		testAdapterFaults(t, b)
	})
	t.Run("Karpenter", func(t *testing.T) {
		suite.Require(t, suite.All)
		testKarpenter(t, b)
	})
}

func start(t *testing.T) *bench {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	dir := t.TempDir()
	go func() {
		ended <- Supervise(ctx, Options{
			Name: "embedded-test", Dir: dir, Spec: world.DefaultSpec(2), With: []string{component.ExtraAdapter, component.ExtraKarpenter},
			Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	b := &bench{}
	polltest.UntilNil(t, "the lab to answer", func() (err error) {
		select {
		case err := <-ended:
			ended <- err
			t.Fatal(err)
		default:
		}
		b.Handle, err = lab.AttachDir(t.Context(), "embedded-test", dir)
		return err
	})
	if err := b.WaitReady(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	st, err := b.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if b.Cluster, err = kube.Open(st.Info.Kubeconfig, ""); err != nil {
		t.Fatal(err)
	}
	return b
}

// fault adds a fault and returns a function that clears it; it logs both durations.
func (b *bench) fault(t *testing.T, f world.Fault) (repair func()) {
	t.Helper()
	begin := time.Now()
	added, err := b.add(t, f)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s was in force after %s", f.Kind, time.Since(begin).Round(time.Millisecond))
	return func() {
		t.Helper()
		begin := time.Now()
		resp, err := b.Do(t.Context(), http.MethodDelete, "/world/faults/"+added.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		t.Logf("%s was repaired after %s", f.Kind, time.Since(begin).Round(time.Millisecond))
	}
}

func (b *bench) add(t *testing.T, f world.Fault) (Fault, error) {
	t.Helper()
	raw, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := b.Do(t.Context(), http.MethodPost, "/world/faults", bytes.NewReader(raw))
	if err != nil {
		return Fault{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	var added Fault
	return added, json.NewDecoder(resp.Body).Decode(&added)
}

// get sends a GET request to the API server.
func (b *bench) get(t *testing.T, path string, params map[string]string) ([]byte, error) {
	t.Helper()
	r := b.Client.Discovery().RESTClient().Get().AbsPath(path)
	for k, v := range params {
		r = r.Param(k, v)
	}
	return r.DoRaw(t.Context())
}

// namespace creates a namespace for the test's pods.
func (b *bench) namespace(t *testing.T, name string) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if _, err := b.Client.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// gpuPod holds GPUs of a node, with a load or idle.
type gpuPod struct {
	namespace, name, container, node string
	gpus                             int64
	busy                             bool
}

// run creates the pod as a Job and waits until it runs; end deletes it.
func (b *bench) run(t *testing.T, p gpuPod) (pod string, end func()) {
	t.Helper()
	script := "exec sleep infinity"
	if p.busy {
		script = `exec dcgmproftester13 --no-dcgm-validation -t 1004 -d "$DURATION"`
	}
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: p.name, Namespace: p.namespace},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			NodeSelector:  map[string]string{corev1.LabelHostname: p.node},
			Tolerations:   []corev1.Toleration{{Key: kube.GPUResource, Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{
				Name: p.container, Image: "nvcr.io/nvidia/cloud-native/dcgm:4.4.2-1-ubuntu22.04", Command: []string{"/bin/bash", "-ec", script},
				Env: []corev1.EnvVar{{Name: "DURATION", Value: "3600"}},
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
					kube.GPUResource: *resource.NewQuantity(p.gpus, resource.DecimalSI),
				}},
			}},
		}}},
	}
	polltest.UntilNil(t, "job "+p.name+" to be accepted", func() error {
		_, err := b.Client.BatchV1().Jobs(p.namespace).Create(t.Context(), job, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	mine := metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + p.name}
	polltest.UntilNil(t, "the pod of "+p.name+" to run", func() error {
		list, err := b.Client.CoreV1().Pods(p.namespace).List(t.Context(), mine)
		if err != nil {
			return err
		}
		if len(list.Items) != 1 || list.Items[0].Status.Phase != corev1.PodRunning {
			return fmt.Errorf("%d pods", len(list.Items))
		}
		pod = list.Items[0].Name
		return nil
	})
	return pod, func() {
		t.Helper()
		background := metav1.DeletePropagationBackground
		if err := b.Client.BatchV1().Jobs(p.namespace).Delete(t.Context(), p.name, metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
			t.Fatal(err)
		}
		polltest.UntilNil(t, "the pod of "+p.name+" to be gone", func() error {
			list, err := b.Client.CoreV1().Pods(p.namespace).List(t.Context(), mine)
			if err == nil && len(list.Items) > 0 {
				err = errors.New("it exists")
			}
			return err
		})
	}
}

// exporterOf reads an exporter's metrics through the API server.
func (b *bench) exporterOf(t *testing.T, node string) string {
	t.Helper()
	var text string
	polltest.UntilNil(t, "the exporter of "+node+" to be forwarded", func() (err error) {
		text, err = b.scrape(t, node)
		return err
	})
	return text
}

// scrape is one attempt of exporterOf.
func (b *bench) scrape(t *testing.T, node string) (string, error) {
	t.Helper()
	pods, err := b.Client.CoreV1().Pods("gpu-operator").List(t.Context(), metav1.ListOptions{
		LabelSelector: "app=nvidia-dcgm-exporter", FieldSelector: "spec.nodeName=" + node,
	})
	if err != nil {
		return "", err
	}
	if len(pods.Items) != 1 {
		return "", fmt.Errorf("%d exporters", len(pods.Items))
	}
	address, stop, err := b.Forward(t.Context(), "gpu-operator", pods.Items[0].Name, 9400)
	if err != nil {
		return "", err
	}
	defer stop()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	resp, err := client.Get("http://" + address + "/metrics")
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}
