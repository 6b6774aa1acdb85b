package recommended_test

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
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/apilog"
	"github.com/firstlight/firstlight/internal/conformance/recommended"
	"github.com/firstlight/firstlight/internal/conformance/submission"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/validate"
	"github.com/firstlight/firstlight/internal/world"
)

// within is how long all of them may take together on a lab of two nodes, one after the other:
// 20 s, and on a busy machine several times that.
const within = 3 * time.Minute

// TestLive: the statuses of a lab, observed with the permissions of a validation.
func TestLive(t *testing.T) {
	suite.Live(t)
	l := labtest.Start(t, world.DefaultSpec(2))
	role, err := validate.Role(nil)
	if err != nil {
		t.Fatal(err)
	}
	least := l.Guest(t, role.Rules)
	deps := func(run string) conformance.Deps {
		return conformance.Deps{Cluster: least.Open, RunID: run, Timeout: time.Minute}
	}
	all := func(run string) []check.Check {
		return []check.Check{
			recommended.NewDrivers(l.Site, l.Profile, deps(run)), recommended.NewSharing(l.Site, l.Profile, deps(run)), recommended.NewVGPU(l.Site, l.Profile, deps(run)),
			recommended.NewPools(l.Site, l.Profile, deps(run)), recommended.NewNetwork(l.Site, l.Profile, deps(run)), recommended.NewDisaggregated(l.Site, l.Profile, deps(run)),
			recommended.NewSandbox(l.Site, l.Profile, deps(run)),
		}
	}
	t.Run("Lab", func(t *testing.T) {
		want := map[string]struct {
			status submission.Status
			says   []string
		}{
			"driver_runtime_management":   {submission.Implemented, []string{"driver 580.105.8 with CUDA", "all 16 devices of 2 nodes", "the labels of GPU feature discovery agree", "nvidia-driver-daemonset installs and upgrades the driver (2 of 2 ready)"}},
			"gpu_sharing":                 {submission.PartiallyImplemented, []string{"two pods shared gpu-", "partitions: GPUs of 2 nodes can be partitioned"}},
			"virtualized_accelerator":     {submission.NotImplemented, []string{"none of 2 nodes offers any"}},
			"advanced_inference_ingress":  {submission.NotImplemented, []string{"the API server serves neither inference.networking.k8s.io nor"}},
			"high_performance_networking": {submission.PartiallyImplemented, []string{"a pod with one rdma/", "DRA: no driver publishes network devices"}},
			"disaggregated_inference":     {submission.NotImplemented, []string{"no known operator is served; looked for dynamographdeployments.nvidia.com"}},
			"workload_sandboxing":         {submission.NotImplemented, []string{"RuntimeClass: not found"}},
		}
		begin := time.Now()
		for _, c := range all("recommended-lab") {
			status, reason := observe(t, l, c, "recommended-lab")
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
		if status, reason := observe(t, l, recommended.NewDrivers(l.Site, l.Profile, deps("recommended-slice")), "recommended-slice"); status != submission.PartiallyImplemented || !strings.Contains(reason, "gpu-02: driver gpu.nvidia.com publishes no device") {
			t.Errorf("%q: %s", status, reason)
		}
	})
	t.Run("NoNetworkDevices", func(t *testing.T) {
		suite.Require(t, suite.All)
		defer l.Fault(t, world.Fault{Kind: "rdma-resource-missing", Target: "gpu-01"})()
		if status, reason := observe(t, l, recommended.NewNetwork(l.Site, l.Profile, deps("recommended-rdma")), "recommended-rdma"); status != submission.PartiallyImplemented || !strings.Contains(reason, "nodes: 1 of 2 have rdma/") {
			t.Errorf("%q: %s", status, reason)
		}
	})
	t.Run("NetworkThroughDRA", func(t *testing.T) {
		suite.Require(t, suite.All)
		defer publish(t, l, "gpu-01", "gpu-02")()
		if status, reason := observe(t, l, recommended.NewNetwork(l.Site, l.Profile, deps("recommended-dranet")), "recommended-dranet"); status != submission.Implemented || !strings.Contains(reason, "dra.net publishes the devices of all 2 nodes with 1 attributes (dra.net/rdma)") {
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
		quick := conformance.Deps{Cluster: least.Open, RunID: "recommended-sandbox", Timeout: 10 * time.Second}
		if status, reason := observe(t, l, recommended.NewSandbox(l.Site, l.Profile, quick), "recommended-sandbox"); status == submission.Implemented {
			t.Errorf("a class by name alone is a sandbox: %s", reason)
		}
	})
	t.Run("NoFreeGPU", func(t *testing.T) {
		suite.Require(t, suite.All)
		for _, node := range []string{"gpu-01", "gpu-02"} {
			l.Hold(t, node, 8)
		}
		if status, reason := observe(t, l, recommended.NewSharing(l.Site, l.Profile, deps("recommended-full")), "recommended-full"); status != "" || !strings.Contains(reason, "occupant-") {
			t.Errorf("%q: %s", status, reason)
		}
	})
}

// publish offers a network device of a driver on each node; the returned function deletes them.
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
	if len(check.OfKind(rec.Observations(), apilog.Kind)) != 1 {
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
