package cluster_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/world"
)

const lookForDevices = "echo begins\nfor d in /dev/nvidia[0-9]*; do if [ -e \"$d\" ]; then echo \"device $d\"; fi; done\nnvidia-smi -L\necho ends"

// claimsAreHonoured: a container gets the GPUs of its claim, and device plugin and claims never
// allocate the same GPU.
func claimsAreHonoured(t *testing.T, b *bench) {
	t.Run("slices", func(t *testing.T) { slicesFollowTheHardware(t, b) })
	b.claim(t, "gpu")
	b.pod(t, "claimant", "gpu-02", "gpu", lookForDevices+"\nsleep infinity", 0)
	b.inPhase(t, "claimant", corev1.PodRunning)
	device := b.allocated(t, "gpu")
	var index int
	if _, err := fmt.Sscanf(device, "gpu-%d", &index); err != nil {
		t.Fatal(err)
	}
	host, _ := b.world.State().Node("gpu-02")
	polltest.UntilNil(t, "the container to say what it sees", func() error {
		if got, want := b.logOf(t, "claimant", "first"), fmt.Sprintf("begins\ndevice /dev/nvidia%d\nGPU 0: NVIDIA H100 80GB HBM3 (UUID: %s)\nends\n", index, host.GPUs[index].UUID); got != want {
			return fmt.Errorf("%q, want %q", got, want)
		}
		if got, want := b.logOf(t, "claimant", "second"), "begins\n/bin/sh: 3: nvidia-smi: not found\nends\n"; got != want {
			return fmt.Errorf("%q, want %q", got, want)
		}
		return nil
	})
	if n := b.occupied(); n != 1 {
		t.Errorf("%d GPUs are held, want 1", n)
	}
	// Eight GPUs by the device plugin include the claim's.
	b.pod(t, "plugged", "gpu-02", "", "sleep infinity", 8)
	b.inPhase(t, "plugged", corev1.PodFailed)
	b.gone(t, "plugged")
	b.gone(t, "claimant")
	// The device plugin has allocated all eight GPUs, including the claim's.
	b.pod(t, "plugged", "gpu-02", "", "sleep infinity", 8)
	b.inPhase(t, "plugged", corev1.PodRunning)
	polltest.UntilNil(t, "GPUs to be held", func() error {
		if n := b.occupied(); n != 8 {
			return fmt.Errorf("%d GPUs", n)
		}
		return nil
	})
	b.pod(t, "late", "gpu-02", "gpu", lookForDevices, 0)
	b.inPhase(t, "late", corev1.PodFailed)
	b.gone(t, "late")
	b.gone(t, "plugged")
	// A script that exits 0 ends its pod successfully and releases its GPU.
	b.pod(t, "ends", "gpu-02", "gpu", lookForDevices, 0)
	b.inPhase(t, "ends", corev1.PodSucceeded)
	if n := b.occupied(); n != 0 {
		t.Errorf("%d GPUs are held by a pod that has ended", n)
	}
	b.gone(t, "ends")
	if err := b.client.ResourceV1().ResourceClaims("default").Delete(t.Context(), "gpu", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func slicesFollowTheHardware(t *testing.T, b *bench) {
	count := func() map[string]int {
		list, err := b.client.ResourceV1().ResourceSlices().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		n := map[string]int{}
		for _, s := range list.Items {
			n[*s.Spec.NodeName] = len(s.Spec.Devices)
		}
		return n
	}
	is := func(what string, want map[string]int) {
		t.Helper()
		b.await(t)
		if got := count(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	healthy := map[string]int{"gpu-01": 8, "gpu-02": 8, "gpu-03": 8, "gpu-04": 8}
	is("healthy", healthy)
	repair := b.fault(t, world.Fault{Kind: "gpu-off-bus", Target: "gpu-02/gpu3"})
	is("a GPU off the bus", map[string]int{"gpu-01": 8, "gpu-02": 7, "gpu-03": 8, "gpu-04": 8})
	repair()
	is("repaired", healthy)
	repair = b.fault(t, world.Fault{Kind: "dra-slice-missing", Target: "gpu-03"})
	is("a slice missing", map[string]int{"gpu-01": 8, "gpu-02": 8, "gpu-04": 8})
	repair()
	repair = b.fault(t, world.Fault{Kind: "plugin-only"})
	is("no DRA driver", map[string]int{})
	if _, err := b.client.ResourceV1().DeviceClasses().Get(t.Context(), "gpu.nvidia.com", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the DeviceClass without a DRA driver: %v", err)
	}
	repair()
	is("the driver is back", healthy)
	if err := b.client.ResourceV1().ResourceSlices().DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := b.client.ResourceV1().DeviceClasses().Delete(t.Context(), "gpu.nvidia.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	polltest.UntilNil(t, "the deleted class to be recreated", func() error {
		_, err := b.client.ResourceV1().DeviceClasses().Get(t.Context(), "gpu.nvidia.com", metav1.GetOptions{})
		return err
	})
	polltest.UntilNil(t, "the deleted slices to be recreated", func() error {
		if got := count(); fmt.Sprint(got) != fmt.Sprint(healthy) {
			return fmt.Errorf("%v", got)
		}
		return nil
	})
}

func (b *bench) claim(t *testing.T, name string) {
	t.Helper()
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
	c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "gpu", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu.nvidia.com"}}}
	if _, err := b.client.ResourceV1().ResourceClaims("default").Create(t.Context(), c, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) allocated(t *testing.T, claim string) string {
	t.Helper()
	c, err := b.client.ResourceV1().ResourceClaims("default").Get(t.Context(), claim, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Status.Allocation == nil || len(c.Status.Allocation.Devices.Results) != 1 || c.Status.Allocation.Devices.Results[0].Pool != "gpu-02" {
		t.Fatalf("claim %+v", c.Status)
	}
	return c.Status.Allocation.Devices.Results[0].Device
}

// pod has two containers with one script; only the first uses the claim.
func (b *bench) pod(t *testing.T, name, node, claim, script string, gpus int) {
	t.Helper()
	container := func(name string) corev1.Container {
		return corev1.Container{Name: name, Image: "test", Command: []string{"/bin/sh", "-c", script}}
	}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, NodeSelector: map[string]string{corev1.LabelHostname: node},
			Tolerations: []corev1.Toleration{{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists}},
			Containers:  []corev1.Container{container("first"), container("second")},
		},
	}
	if claim != "" {
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "mine", ResourceClaimName: &claim}}
		p.Spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "mine"}}
	}
	if gpus > 0 {
		p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": *resource.NewQuantity(int64(gpus), resource.DecimalSI)}
	}
	if _, err := b.client.CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) inPhase(t *testing.T, name string, want corev1.PodPhase) {
	t.Helper()
	polltest.UntilNil(t, "pod "+name+" to be "+string(want), func() error {
		p, err := b.client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if p.Status.Phase != want {
			return fmt.Errorf("%s: %s %s %v", p.Status.Phase, p.Status.Reason, p.Status.Message, p.Status.Conditions)
		}
		if want == corev1.PodFailed && (p.Status.Reason != "UnexpectedAdmissionError" || p.Status.Message == "") {
			t.Errorf("pod %s failed for %q: %q", name, p.Status.Reason, p.Status.Message)
		}
		return nil
	})
}

func (b *bench) logOf(t *testing.T, pod, container string) string {
	t.Helper()
	return b.logs(t, pod, &corev1.PodLogOptions{Container: container})
}

func (b *bench) gone(t *testing.T, name string) {
	t.Helper()
	if err := b.client.CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	polltest.UntilNil(t, "pod "+name+" to be gone", func() error {
		list, err := b.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		if err == nil && len(list.Items) > 0 {
			err = errors.New("still there")
		}
		return err
	})
	polltest.UntilNil(t, "the GPUs of "+name+" to be free", func() error {
		for _, n := range b.world.State().GPUNodes() {
			for _, g := range n.GPUs {
				if strings.HasSuffix(g.Occupant.Name, name) {
					return fmt.Errorf("%s/gpu%d is allocated", n.Name, g.Index)
				}
			}
		}
		return nil
	})
}
