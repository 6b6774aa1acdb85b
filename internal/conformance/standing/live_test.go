package standing_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/calls"
	"github.com/firstlight/firstlight/internal/conformance/disaggregated"
	"github.com/firstlight/firstlight/internal/conformance/drivers"
	"github.com/firstlight/firstlight/internal/conformance/network"
	"github.com/firstlight/firstlight/internal/conformance/pools"
	"github.com/firstlight/firstlight/internal/conformance/sandbox"
	"github.com/firstlight/firstlight/internal/conformance/sharing"
	"github.com/firstlight/firstlight/internal/conformance/standing"
	"github.com/firstlight/firstlight/internal/conformance/submission"
	"github.com/firstlight/firstlight/internal/conformance/vgpu"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/validate"
	"github.com/firstlight/firstlight/internal/world"
)

// within is how long all of them may take together on a lab of two nodes, by the way
// that they are walked in: one after the other.
const within = 60 * time.Second

// TestLive: what a lab honestly has, as the role of a validation may see it.
func TestLive(t *testing.T) {
	suite.Live(t)
	l := labtest.Start(t, world.DefaultSpec(2))
	role, err := validate.Role(nil)
	if err != nil {
		t.Fatal(err)
	}
	least := l.Guest(t, role.Rules)
	deps := func(run string) standing.Deps {
		return standing.Deps{Cluster: least.Open, RunID: run, Patience: time.Minute}
	}
	all := func(run string) []check.Check {
		return []check.Check{
			drivers.New(l.Site, l.Profile, deps(run)), sharing.New(l.Site, l.Profile, deps(run)), vgpu.New(l.Site, l.Profile, deps(run)),
			pools.New(l.Site, l.Profile, deps(run)), network.New(l.Site, l.Profile, deps(run)), disaggregated.New(l.Site, l.Profile, deps(run)),
			sandbox.New(l.Site, l.Profile, deps(run)),
		}
	}
	t.Run("Lab", func(t *testing.T) {
		want := map[string]struct {
			status submission.Status
			says   []string
		}{
			drivers.Name:       {submission.Implemented, []string{"driver 580.105.8 with CUDA", "all 16 devices of 2 nodes", "GPU feature discovery says the same of each", "nvidia-driver-daemonset installs and upgrades the driver (2 of 2 ready)"}},
			sharing.Name:       {submission.PartiallyImplemented, []string{"two pods shared gpu-", "partitions: GPUs of 2 nodes can be partitioned"}},
			vgpu.Name:          {submission.NotImplemented, []string{"none of 2 nodes offers any"}},
			pools.Name:         {submission.NotImplemented, []string{"the API server serves neither inference.networking.k8s.io nor"}},
			network.Name:       {submission.PartiallyImplemented, []string{"a pod with one rdma/", "DRA: no driver of network devices publishes any"}},
			disaggregated.Name: {submission.NotImplemented, []string{"none that is known is served; looked for dynamographdeployments.nvidia.com"}},
			sandbox.Name:       {submission.NotImplemented, []string{"RuntimeClass: there is none"}},
		}
		begin := time.Now()
		for _, c := range all("standing-lab") {
			status, reason := observe(t, l, c, "standing-lab")
			if status != want[c.Name()].status {
				t.Errorf("%s is %q: %s", c.Name(), status, reason)
			}
			for _, says := range want[c.Name()].says {
				if !strings.Contains(reason, says) {
					t.Errorf("%s does not say %q: %s", c.Name(), says, reason)
				}
			}
		}
		took := time.Since(begin)
		t.Logf("all together: %s", took.Round(time.Millisecond))
		if took > within {
			t.Errorf("all together took %s", took)
		}
	})
	t.Run("SliceMissing", func(t *testing.T) {
		defer l.Fault(t, world.Fault{Kind: "dra-slice-missing", Target: "gpu-02"})()
		if status, reason := observe(t, l, drivers.New(l.Site, l.Profile, deps("standing-slice")), "standing-slice"); status != submission.PartiallyImplemented || !strings.Contains(reason, "gpu-02: driver gpu.nvidia.com publishes no device") {
			t.Errorf("%q: %s", status, reason)
		}
	})
	t.Run("NoNetworkDevices", func(t *testing.T) {
		suite.Require(t, suite.All)
		defer l.Fault(t, world.Fault{Kind: "rdma-resource-missing", Target: "gpu-01"})()
		if status, reason := observe(t, l, network.New(l.Site, l.Profile, deps("standing-rdma")), "standing-rdma"); status != submission.PartiallyImplemented || !strings.Contains(reason, "nodes: 1 of 2 have rdma/") {
			t.Errorf("%q: %s", status, reason)
		}
	})
	t.Run("NetworkThroughDRA", func(t *testing.T) {
		suite.Require(t, suite.All)
		defer publish(t, l, "gpu-01", "gpu-02")()
		if status, reason := observe(t, l, network.New(l.Site, l.Profile, deps("standing-dranet")), "standing-dranet"); status != submission.Implemented || !strings.Contains(reason, "dra.net publishes the devices of all 2 nodes with 1 attributes (dra.net/rdma)") {
			t.Errorf("%q: %s", status, reason)
		}
	})
	t.Run("ClassOfNoSandbox", func(t *testing.T) {
		suite.Require(t, suite.All)
		classes := l.Cluster.Client.NodeV1().RuntimeClasses()
		if _, err := classes.Create(t.Context(), &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "gvisor"}, Handler: "runsc"}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := classes.Delete(context.WithoutCancel(t.Context()), "gvisor", metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
		}()
		quick := standing.Deps{Cluster: least.Open, RunID: "standing-sandbox", Patience: 10 * time.Second}
		if status, reason := observe(t, l, sandbox.New(l.Site, l.Profile, quick), "standing-sandbox"); status == submission.Implemented {
			t.Errorf("a class by name alone is a sandbox: %s", reason)
		}
	})
	t.Run("NoFreeGPU", func(t *testing.T) {
		suite.Require(t, suite.All)
		for _, node := range []string{"gpu-01", "gpu-02"} {
			l.Hold(t, node, 8)
		}
		if status, reason := observe(t, l, sharing.New(l.Site, l.Profile, deps("standing-full")), "standing-full"); status != "" || !strings.Contains(reason, "occupant-") {
			t.Errorf("%q: %s", status, reason)
		}
	})
}

// publish has a driver of network devices offer one on each node, until it is taken away.
func publish(t *testing.T, l *labtest.Lab, nodes ...string) (remove func()) {
	t.Helper()
	const driver = "dra.net"
	api := l.Cluster.Client.ResourceV1()
	class := &resourcev1.DeviceClass{
		ObjectMeta: metav1.ObjectMeta{Name: "rdma"},
		Spec:       resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "device.driver == '" + driver + "'"}}}},
	}
	if _, err := api.DeviceClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		slice := &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: driver + "-" + node},
			Spec: resourcev1.ResourceSliceSpec{
				Driver: driver, NodeName: new(node), Pool: resourcev1.ResourcePool{Name: node, Generation: 1, ResourceSliceCount: 1},
				Devices: []resourcev1.Device{{Name: "net-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"dra.net/rdma": {BoolValue: new(true)}}}},
			},
		}
		if _, err := api.ResourceSlices().Create(t.Context(), slice, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		ctx := context.WithoutCancel(t.Context())
		err := api.DeviceClasses().Delete(ctx, class.Name, metav1.DeleteOptions{})
		for _, node := range nodes {
			err = errors.Join(err, api.ResourceSlices().Delete(ctx, driver+"-"+node, metav1.DeleteOptions{}))
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// observe runs a check and judges it from what it recorded; nothing of it is left but
// the run's PriorityClass.
func observe(t *testing.T, l *labtest.Lab, c check.Check, run string) (submission.Status, string) {
	t.Helper()
	rec := &labtest.Recorder{}
	begin := time.Now()
	if err := c.Observe(t.Context(), rec); err != nil {
		t.Fatal(err)
	}
	if len(check.OfKind(rec.Observations(), calls.Kind)) != 1 {
		t.Errorf("%s: the calls are not kept", c.Name())
	}
	j := c.Judge(rec.Observations())
	status, _ := submission.ShownBy(j.Verdict, j.Reason).Status()
	t.Logf("%s in %s: %q: %s", c.Name(), time.Since(begin).Round(time.Millisecond), status, j.Reason)
	host := kube.Guest{Cluster: l.Cluster}
	left, err := host.LeftOf(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range left {
		if o.Kind != "PriorityClass" {
			t.Errorf("%s left %+v", c.Name(), o)
		}
	}
	if err := host.Cleanup(context.WithoutCancel(t.Context()), run); err != nil {
		t.Error(err)
	}
	l.RequireClean(t, run)
	return status, j.Reason
}
