package preflight

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/hostcommand"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

// require holds lines to one wanted line each, "RESULT WHAT TARGET: part of the observation", in order.
// Lines that are ok are left out. Each of them must have a remedy.
func require(t *testing.T, name string, lines []Line, want ...string) {
	t.Helper()
	var got []string
	for _, l := range lines {
		if l.Result == OK {
			if l.Remedy != "" || l.Observed == "" || l.Check == "" || l.Target == "" {
				t.Errorf("%s: incomplete: %+v", name, l)
			}
			continue
		}
		got = append(got, string(l.Result)+" "+l.Check+" "+l.Target+": "+l.Observed)
		if l.Remedy == "" {
			t.Errorf("%s: no remedy: %+v", name, l)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %q, want %q", name, got, want)
	}
	for i, w := range want {
		head, seen, _ := strings.Cut(w, ": ")
		if !strings.HasPrefix(got[i], head+": ") || !strings.Contains(got[i], seen) {
			t.Errorf("%s: %q, want %q", name, got[i], w)
		}
	}
}

func TestOverall(t *testing.T) {
	t.Parallel()
	line := func(r Result) Line { return Line{Result: r} }
	for name, tt := range map[string]struct {
		lines []Line
		want  Result
	}{
		"nothing":        {nil, Unobserved},
		"ok":             {[]Line{line(OK)}, OK},
		"one not seen":   {[]Line{line(OK), line(Unobserved), line(OK)}, Unobserved},
		"both":           {[]Line{line(Unobserved), line(WouldStop), line(OK)}, WouldStop},
		"without result": {[]Line{line(OK), {}}, Unobserved},
	} {
		if got := overall(tt.lines); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// healthyHost is a host on which every command was tried.
func healthyHost(name string, now time.Time) hostFacts {
	return hostFacts{
		name:    name,
		clock:   node.HostClock{Host: name, AskedAt: now, AnsweredAt: now.Add(time.Millisecond), Clock: now, ClockAfter: now},
		modules: []string{"nvidia", "ib_umad"},
		trials: []trial{
			{command: hostcommand.Command{Argv: []string{"nvidia-smi", "-q"}, Modules: []string{"nvidia"}}, version: "580.1"},
			{command: hostcommand.Command{Argv: []string{"nvidia-smi", "nvlink"}, Modules: []string{"nvidia"}}},
			{command: hostcommand.Command{Argv: []string{"sminfo"}, Modules: []string{"ib_umad"}}},
			{command: hostcommand.Command{Argv: []string{"dmesg"}, Remedy: "be root"}},
		},
	}
}

func TestJudgeHosts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	unusable := errors.New("cannot be read")
	for name, tt := range map[string]struct {
		spoil func(f *hostFacts)
		want  []string
	}{
		"healthy":        {func(*hostFacts) {}, nil},
		"unreachable":    {func(f *hostFacts) { f.login = &ssh.UnreachableError{Host: "b", Address: "b:22", Err: unusable} }, []string{"would-stop ssh b: unreachable over SSH"}},
		"no shell":       {func(f *hostFacts) { f.login = unusable }, []string{"would-stop ssh b: cannot be read"}},
		"second command": {func(f *hostFacts) { f.trials[1].err = unusable }, []string{"would-stop nvidia-smi b: cannot be used: cannot be read"}},
		"not found": {func(f *hostFacts) {
			f.trials[3].err, f.trials[3].out = unusable, ssh.Output{Exit: 127, Stderr: []byte("bash: dmesg: command not found\n")}
		}, []string{"would-stop dmesg b: not found; it printed: bash: dmesg: command not found"}},
		"hangs":                         {func(f *hostFacts) { f.trials[0].err, f.trials[0].unanswered = unusable, true }, []string{"unobserved nvidia-smi b: cannot be read"}},
		"module missing":                {func(f *hostFacts) { f.modules = []string{"nvidia"} }, []string{"would-stop kernel modules b: not loaded: ib_umad"}},
		"module missing, program fails": {func(f *hostFacts) { f.modules, f.trials[2].err = []string{"nvidia"}, unusable }, []string{"would-stop kernel modules b: not loaded: ib_umad; sminfo: cannot be read"}},
		"modules unknown, program fails": {func(f *hostFacts) { f.modulesErr, f.trials[2].err = unusable, unusable },
			[]string{"would-stop sminfo b: cannot be read", "unobserved kernel modules b: cannot be read"}},
		"clock":         {func(f *hostFacts) { f.clock.Clock, f.clock.ClockAfter = now.Add(time.Hour), now.Add(time.Hour) }, []string{"would-stop clock b: differs"}},
		"clock unknown": {func(f *hostFacts) { f.clock.Clock = time.Time{} }, []string{"unobserved clock b: does not report"}},
	} {
		facts := []hostFacts{healthyHost("a", now), healthyHost("b", now), healthyHost("c", now)}
		tt.spoil(&facts[1])
		require(t, name, judgeHosts(facts, time.Second), tt.want...)
	}
	facts := []hostFacts{healthyHost("a", now), healthyHost("b", now)}
	facts[1].clock.Clock = time.Time{}
	require(t, "no gate compares clocks", judgeHosts(facts, 0))
	if lines := judgeHosts(nil, time.Second); len(lines) != 0 {
		t.Errorf("no hosts: %+v", lines)
	}
}

func TestJudgeAccess(t *testing.T) {
	t.Parallel()
	granted := []access{
		{namespace: "run", verb: "create", group: "batch", resource: "jobs", why: "gangs", allowed: true},
		{namespace: "run", verb: "get", resource: "pods", sub: "log", why: "gangs", allowed: true},
		{verb: "list", resource: "nodes", why: "which cluster", allowed: true},
		{namespace: "run", verb: "list", group: "kueue.x-k8s.io", resource: "localqueues", why: "gangs", unserved: true},
	}
	for name, tt := range map[string]struct {
		spoil   func(all []access)
		missing string
		want    []string
	}{
		"all":               {func([]access) {}, "", nil},
		"one":               {func(all []access) { all[0].allowed = false }, "", []string{"would-stop permissions namespace run: may not: create jobs.batch (gangs)"}},
		"two of one reason": {func(all []access) { all[0].allowed, all[1].allowed = false, false }, "", []string{"would-stop permissions namespace run: may not: create jobs.batch, get pods/log (gangs)"}},
		"two reasons": {func(all []access) { all[0].allowed, all[2].allowed = false, false }, "", []string{
			"would-stop permissions namespace run: create jobs.batch", "would-stop permissions cluster-wide: list nodes",
		}},
		"in a namespace that is missing": {func(all []access) { all[0].allowed = false }, "run", nil},
		"unknown":                        {func(all []access) { all[2].err = errors.New("timeout") }, "", []string{"unobserved permissions cluster-wide: timeout"}},
		"none reviewed": {func(all []access) {
			for i := range all {
				all[i].unserved = true
			}
		}, "", []string{"unobserved permissions cluster: no permission was reviewed"}},
	} {
		all := slices.Clone(granted)
		tt.spoil(all)
		require(t, name, judgeAccess(all, tt.missing, "apply the roles"), tt.want...)
	}
}

func TestLacks(t *testing.T) {
	t.Parallel()
	r := resources{groups: map[string][]string{"": {"pods", "pods/log"}, "broken": nil, "custom.metrics.k8s.io": {"namespaces/power"}}}
	for in, want := range map[[2]string]bool{
		{"", "pods"}: false, {"", "widgets"}: true, {"absent", "x"}: true, {"broken", "x"}: false, {"custom.metrics.k8s.io", "namespaces"}: false,
	} {
		if got := r.lacks(in[0], in[1]); got != want {
			t.Errorf("%q: %t", in, got)
		}
	}
	if (resources{err: errors.New("down")}).lacks("absent", "x") {
		t.Error("an unknown cluster lacks nothing")
	}
}

func notFound() error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "x")
}

func TestJudgeSpace(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for name, tt := range map[string]struct {
		f    spaceFacts
		want []string
	}{
		"own":                        {spaceFacts{mayCreate: true}, nil},
		"own, exists already":        {spaceFacts{mayCreate: true, err: apierrors.NewAlreadyExists(schema.GroupResource{}, "x")}, nil},
		"own, forbidden":             {spaceFacts{}, nil}, // a line of the permissions
		"own, refused":               {spaceFacts{mayCreate: true, err: down}, []string{"would-stop namespace firstlight-RUN: a dry run cannot create it: down"}},
		"given":                      {spaceFacts{name: "x", found: &corev1.Namespace{}}, nil},
		"given, missing":             {spaceFacts{name: "x", err: notFound()}, []string{"would-stop namespace x: does not exist"}},
		"given, missing, may create": {spaceFacts{name: "x", err: notFound(), mayCreate: true}, nil},
		"given, unread":              {spaceFacts{name: "x", err: down}, []string{"unobserved namespace x: down"}},
		"given, ends":                {spaceFacts{name: "x", found: &corev1.Namespace{Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}}}, []string{"would-stop namespace x: is being deleted"}},
		"unknown":                    {spaceFacts{reviewErr: down}, []string{"unobserved namespace firstlight-RUN: down"}},
	} {
		require(t, name, judgeSpace(tt.f), tt.want...)
	}
}

// pods renders the workload of a gate with GPUs.
func pods(gates ...string) []rendered {
	var specs []workload.Spec
	for _, g := range gates {
		specs = append(specs, workload.Spec{Name: g, Gate: g, Pods: 2, GPUs: 8, Image: "i", Container: "c", Script: "true", Nodes: []string{"a", "b"}, OnePerNode: true})
	}
	return mustRender(specs)
}

func mustRender(specs []workload.Spec) []rendered {
	out, err := render("x", nil, specs)
	if err != nil {
		panic(err)
	}
	return out
}

func TestJudgePodSecurity(t *testing.T) {
	t.Parallel()
	labelled := func(level string) spaceFacts {
		return spaceFacts{name: "x", found: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"pod-security.kubernetes.io/enforce": level}}}}
	}
	locking := pods("collective")
	locking[0].spec.NetworkResource, locking[0].spec.NetworkCount = "rdma/ib", 8
	locking = mustRender([]workload.Spec{locking[0].spec})
	for name, tt := range map[string]struct {
		space spaceFacts
		pods  []rendered
		want  []string
	}{
		"own":              {spaceFacts{}, append(pods("telemetry"), locking...), nil},
		"no label":         {spaceFacts{name: "x", found: &corev1.Namespace{}}, locking, nil},
		"privileged":       {labelled("privileged"), locking, nil},
		"baseline":         {labelled("baseline"), pods("telemetry"), nil},
		"baseline, locks":  {labelled("baseline"), append(pods("telemetry"), locking...), []string{"would-stop pod security x: the level baseline refuses the pods of collective: "}},
		"restricted":       {labelled("restricted"), pods("telemetry", "inference"), []string{"would-stop pod security x: the level restricted refuses the pods of telemetry, inference: "}},
		"no such level":    {labelled("strict"), pods("telemetry"), []string{"unobserved pod security x: enforce"}},
		"namespace unread": {spaceFacts{name: "x", err: errors.New("down")}, pods("telemetry"), nil},
	} {
		require(t, name, judgePodSecurity(tt.space, tt.pods), tt.want...)
	}
}

func TestJudgeQuotas(t *testing.T) {
	t.Parallel()
	quota := func(scopes []corev1.ResourceQuotaScope, pairs ...string) quotaFacts {
		q := corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "team"}, Spec: corev1.ResourceQuotaSpec{Scopes: scopes, Hard: corev1.ResourceList{}}, Status: corev1.ResourceQuotaStatus{Used: corev1.ResourceList{}}}
		for i := 0; i+2 < len(pairs); i += 3 {
			q.Spec.Hard[corev1.ResourceName(pairs[i])], q.Status.Used[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1]), resource.MustParse(pairs[i+2])
		}
		return quotaFacts{quotas: []corev1.ResourceQuota{q}}
	}
	defaulted := quota(nil, "requests.cpu", "4", "0")
	defaulted.limits = []corev1.LimitRange{{Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, DefaultRequest: corev1.ResourceList{"cpu": resource.MustParse("2")}}}}}}
	tooMuch := defaulted
	tooMuch.quotas = quota(nil, "requests.cpu", "4", "1").quotas
	limit := func(kind corev1.LimitType, most string) quotaFacts {
		return quotaFacts{limits: []corev1.LimitRange{{ObjectMeta: metav1.ObjectMeta{Name: "small"}, Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: kind, Max: corev1.ResourceList{kube.GPUResource: resource.MustParse(most)}}}}}}}
	}
	byClass := quota(nil, "pods", "0", "0")
	byClass.quotas[0].Spec.ScopeSelector = &corev1.ScopeSelector{MatchExpressions: []corev1.ScopedResourceSelectorRequirement{{ScopeName: corev1.ResourceQuotaScopePriorityClass, Operator: corev1.ScopeSelectorOpIn, Values: []string{"high"}}}}
	for name, tt := range map[string]struct {
		f    quotaFacts
		err  error
		want []string
	}{
		"none":                {quotaFacts{}, nil, nil},
		"unread":              {quotaFacts{}, errors.New("down"), []string{"unobserved quota x: down"}},
		"enough GPUs":         {quota(nil, "requests.nvidia.com/gpu", "16", "0"), nil, nil},
		"used GPUs":           {quota(nil, "requests.nvidia.com/gpu", "16", "1"), nil, []string{"would-stop quota x: ResourceQuota team: gate telemetry needs 16 of requests.nvidia.com/gpu, 15 of 16 are left"}},
		"pods":                {quota(nil, "pods", "1", "0", "count/jobs.batch", "0", "0"), nil, []string{"would-stop quota x: needs 1 of count/jobs.batch, 0 of 0 are left; needs 2 of pods, 1 of 1 are left"}},
		"services":            {quota(nil, "services", "3", "3"), nil, []string{"would-stop quota x: needs 1 of services"}},
		"other resources":     {quota(nil, "persistentvolumeclaims", "0", "0"), nil, nil},
		"CPU not set":         {quota(nil, "limits.memory", "1Gi", "0"), nil, []string{"would-stop quota x: must set limits.memory"}},
		"CPU by default":      {defaulted, nil, nil},
		"CPU, too little":     {tooMuch, nil, []string{"would-stop quota x: needs 4 of requests.cpu, 3 of 4 are left"}},
		"with a deadline":     {quota([]corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeTerminating}, "pods", "0", "0"), nil, nil},
		"without a deadline":  {quota([]corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeNotTerminating}, "pods", "0", "0"), nil, []string{"would-stop quota x: needs 2 of pods"}},
		"best effort":         {quota([]corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}, "pods", "0", "0"), nil, []string{"would-stop quota x: needs 2 of pods"}},
		"of another class":    {byClass, nil, nil},
		"limit of containers": {limit(corev1.LimitTypeContainer, "4"), nil, []string{"would-stop quota x: LimitRange small allows 4 of nvidia.com/gpu for each container, its pods have 8"}},
		"limit of pods":       {limit(corev1.LimitTypePod, "7"), nil, []string{"would-stop quota x: for each pod, its pods have 8"}},
		"limit that fits":     {limit(corev1.LimitTypePod, "8"), nil, nil},
	} {
		require(t, name, judgeQuotas("x", tt.f, tt.err, pods("telemetry")), tt.want...)
	}
}

func TestJudgeAdmission(t *testing.T) {
	t.Parallel()
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New("not welcome"))
	secured := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New(`violates PodSecurity "restricted:latest"`))
	quota := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New("exceeded quota: team"))
	for name, tt := range map[string]struct {
		all  []admitted
		want []string
	}{
		"admitted":                {[]admitted{{"a", "pod", nil}, {"b", "job", nil}}, nil},
		"refused":                 {[]admitted{{"a", "pod", refused}, {"b", "pod", nil}, {"c", "pod", refused}}, []string{"would-stop admission x: cannot create a pod of a, c: "}},
		"webhook down":            {[]admitted{{"a", "pod", apierrors.NewInternalError(errors.New("failed calling webhook"))}}, []string{"unobserved admission x: failed calling webhook"}},
		"of another line":         {[]admitted{{"a", "pod", secured}, {"b", "pod", quota}}, nil},
		"no permission":           {[]admitted{{"a", "", nil}}, nil},
		"permission not reviewed": {[]admitted{{"a", "", errors.New("down")}}, []string{"unobserved admission x: down"}},
	} {
		require(t, name, judgeAdmission("x", tt.all), tt.want...)
	}
	if lines := judgeAdmission("x", []admitted{{"a", "pod", secured}}); len(lines) != 0 {
		t.Errorf("pods that another line refuses are ok: %+v", lines)
	}
}

// machines are two usable nodes and the demand of one gate for both.
func machines() (nodeFacts, nodeDemand) {
	one := func(name string) corev1.Node {
		list := corev1.ResourceList{kube.GPUResource: resource.MustParse("8"), "rdma/ib": resource.MustParse("8")}
		return corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       corev1.NodeSpec{Taints: []corev1.Taint{{Key: kube.GPUResource, Value: "present", Effect: corev1.TaintEffectNoSchedule}}},
			Status:     corev1.NodeStatus{Allocatable: list, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		}
	}
	rendered := pods("telemetry")
	free := kube.Usage{Allocatable: 8}
	return nodeFacts{nodes: []corev1.Node{one("a"), one("b"), one("system")}, usage: map[string]kube.Usage{"a": free, "b": free}},
		nodeDemand{names: []string{"a", "b"}, gpus: 8, ports: 8, networkResource: "rdma/ib", every: true, workloads: []workload.Spec{rendered[0].spec}, tolerations: tolerations(rendered)}
}

func TestJudgeNodes(t *testing.T) {
	t.Parallel()
	gone := func(f *nodeFacts, name string) { f.usage[name] = kube.Usage{} }
	held := kube.Usage{Allocatable: 8, Requested: 3, Holders: []kube.Holder{{Namespace: "team", Pod: "train-0", Count: 3}}}
	for name, tt := range map[string]struct {
		spoil func(f *nodeFacts, d *nodeDemand)
		want  []string
	}{
		"healthy": {func(*nodeFacts, *nodeDemand) {}, nil},
		"unread":  {func(f *nodeFacts, _ *nodeDemand) { f.err = errors.New("down") }, []string{"unobserved node inventory: down"}},
		"missing": {func(f *nodeFacts, _ *nodeDemand) { f.nodes = f.nodes[1:]; gone(f, "a") }, []string{"would-stop node a: not in the cluster"}},
		"not Ready": {func(f *nodeFacts, _ *nodeDemand) {
			f.nodes[1].Status.Conditions[0] = corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"}
			gone(f, "b")
		}, []string{"would-stop node b: is not Ready: NodeStatusUnknown"}},
		"never Ready": {func(f *nodeFacts, _ *nodeDemand) { f.nodes[1].Status.Conditions = nil; gone(f, "b") }, []string{"would-stop node b: never reported"}},
		"cordoned":    {func(f *nodeFacts, _ *nodeDemand) { f.nodes[1].Spec.Unschedulable = true; gone(f, "b") }, []string{"would-stop node b: is cordoned"}},
		"taint": {func(f *nodeFacts, _ *nodeDemand) {
			f.nodes[0].Spec.Taints = append(f.nodes[0].Spec.Taints, corev1.Taint{Key: "team", Effect: corev1.TaintEffectNoExecute})
		}, []string{"would-stop node a: has the taint team:NoExecute"}},
		"a preference": {func(f *nodeFacts, _ *nodeDemand) {
			f.nodes[0].Spec.Taints = append(f.nodes[0].Spec.Taints, corev1.Taint{Key: "team", Effect: corev1.TaintEffectPreferNoSchedule})
		}, nil},
		"fewer GPUs": {func(f *nodeFacts, _ *nodeDemand) {
			f.nodes[0].Status.Allocatable[kube.GPUResource] = resource.MustParse("7")
		}, []string{"would-stop node a: has 7 of nvidia.com/gpu allocatable, want 8"}},
		"more GPUs": {func(f *nodeFacts, _ *nodeDemand) {
			f.nodes[0].Status.Allocatable[kube.GPUResource] = resource.MustParse("9")
		}, []string{"would-stop node a: has 9"}},
		"no RDMA": {func(f *nodeFacts, _ *nodeDemand) { delete(f.nodes[0].Status.Allocatable, "rdma/ib") }, []string{"would-stop node a: has 0 of rdma/ib allocatable, want 8"}},
		"RDMA not needed": {func(f *nodeFacts, d *nodeDemand) {
			delete(f.nodes[0].Status.Allocatable, "rdma/ib")
			d.networkResource, d.ports = "", 0
		}, nil},
		"held": {func(f *nodeFacts, _ *nodeDemand) { f.usage["b"] = held }, []string{"would-stop GPUs b: 5 of 8 are free: pod team/train-0 holds 3; needed by telemetry"}},
		"held, few needed": {func(f *nodeFacts, d *nodeDemand) {
			f.usage["b"] = held
			d.workloads[0].Pods, d.workloads[0].GPUs = 1, 8
		}, nil},
		"cordoned, few needed": {func(f *nodeFacts, d *nodeDemand) {
			f.nodes[1].Spec.Unschedulable = true
			gone(f, "b")
			d.workloads[0].Pods, d.every = 1, false
		}, nil},
		"cordoned, few needed, every": {func(f *nodeFacts, d *nodeDemand) {
			f.nodes[1].Spec.Unschedulable = true
			gone(f, "b")
			d.workloads[0].Pods = 1
		}, []string{"would-stop node b: is cordoned"}},
		"cordoned, needed": {func(f *nodeFacts, d *nodeDemand) {
			f.nodes[1].Spec.Unschedulable = true
			gone(f, "b")
			d.every = false
		}, []string{"would-stop node b: is cordoned"}},
		"too large for the site": {func(_ *nodeFacts, d *nodeDemand) { d.workloads[0].Pods = 3 }, []string{"would-stop GPUs inventory: too few for telemetry"}},
	} {
		f, d := machines()
		tt.spoil(&f, &d)
		require(t, name, judgeNodes(f, d), tt.want...)
	}
}

func TestJudgeImage(t *testing.T) {
	t.Parallel()
	status := func(code int) error { return &errcode.ErrorResponse{StatusCode: code} }
	asked := imageFacts{image: "i", nodes: []string{"a", "b"}, asked: true, wanted: []string{"linux/amd64"}}
	for name, tt := range map[string]struct {
		spoil func(f *imageFacts)
		want  []string
	}{
		"in the registry": {func(f *imageFacts) { f.digest = "sha256:1" }, nil},
		"on the nodes":    {func(f *imageFacts) { f.asked, f.present = false, f.nodes }, nil},
		"right platform":  {func(f *imageFacts) { f.platforms = []string{"linux/arm64", "linux/amd64"} }, nil},
		"wrong platform":  {func(f *imageFacts) { f.platforms = []string{"linux/arm64"} }, []string{"would-stop image i: no manifest for [linux/amd64], only for [linux/arm64]"}},
		"two architectures": {func(f *imageFacts) {
			f.platforms, f.wanted = []string{"linux/amd64"}, []string{"linux/amd64", "linux/arm64"}
		}, []string{"would-stop image i: no manifest for [linux/arm64]"}},
		"invalid":          {func(f *imageFacts) { f.invalid = errors.New("no reference") }, []string{"would-stop image i: no reference"}},
		"not there":        {func(f *imageFacts) { f.err = status(http.StatusNotFound) }, []string{"would-stop image i: does not have it"}},
		"wrong secret":     {func(f *imageFacts) { f.err, f.credentials = status(http.StatusUnauthorized), true }, []string{"would-stop image i: refuses the pull secret: Unauthorized"}},
		"not granted":      {func(f *imageFacts) { f.err, f.credentials = status(http.StatusForbidden), true }, []string{"would-stop image i: Forbidden"}},
		"no secret":        {func(f *imageFacts) { f.err = status(http.StatusUnauthorized) }, []string{"unobserved image i: requires credentials, and the namespace"}},
		"secret not read":  {func(f *imageFacts) { f.err, f.secretsErr = status(http.StatusForbidden), errors.New("Forbidden") }, []string{"unobserved image i: requires credentials: Forbidden"}},
		"registry is ill":  {func(f *imageFacts) { f.err = status(http.StatusBadGateway) }, []string{"unobserved image i: 502"}},
		"registry is down": {func(f *imageFacts) { f.err = errors.New("connection refused") }, []string{"unobserved image i: connection refused"}},
	} {
		f := asked
		tt.spoil(&f)
		require(t, name, []Line{judgeImage(f)}, tt.want...)
	}
}

func TestJudgeServices(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	want := site.Telemetry{ScrapeInterval: site.Duration(15 * time.Second), Receiver: "on-call"}
	for name, tt := range map[string]struct {
		spoil func(f *seriesFacts)
		want  []string
	}{
		"healthy":        {func(*seriesFacts) {}, nil},
		"no targets":     {func(f *seriesFacts) { f.intervals = nil }, nil},
		"no certificate": {func(f *seriesFacts) { f.connectErr = down }, []string{"would-stop Prometheus p: down"}},
		"not ready":      {func(f *seriesFacts) { f.readyErr = down }, []string{"would-stop Prometheus p: down"}},
		"unreadable":     {func(f *seriesFacts) { f.readErr = down }, []string{"unobserved Prometheus p: cannot read DCGM_FI_DEV_GPU_UTIL: down"}},
		"a defect": {func(f *seriesFacts) {
			f.defects = []check.Finding{{Suspect: "gpu-02", Message: "no series", Remedy: "look"}}
		}, []string{"would-stop GPU series gpu-02: no series"}},
		"rare scrapes":    {func(f *seriesFacts) { f.intervals = []time.Duration{15 * time.Second, time.Minute} }, []string{"would-stop scrape interval p: every 1m0s, the site says 15s"}},
		"often":           {func(f *seriesFacts) { f.intervals = []time.Duration{time.Second} }, nil},
		"no Alertmanager": {func(f *seriesFacts) { f.alertmanagers = nil }, []string{"would-stop alerting p: no active Alertmanager"}},
		"alerts unknown":  {func(f *seriesFacts) { f.alertErr = down }, []string{"unobserved alerting p: down"}},
	} {
		f := seriesFacts{address: "p", intervals: []time.Duration{15 * time.Second}, alertmanagers: []string{"am"}}
		tt.spoil(&f)
		require(t, name, judgeSeries(f, want), tt.want...)
	}
	for name, tt := range map[string]struct {
		spoil func(f *alertFacts)
		want  []string
	}{
		"healthy":        {func(*alertFacts) {}, nil},
		"down":           {func(f *alertFacts) { f.err = down }, []string{"would-stop Alertmanager am: down"}},
		"no receiver":    {func(f *alertFacts) { f.receivers[0].Name = "other" }, []string{"would-stop alert receiver on-call: is not in"}},
		"no integration": {func(f *alertFacts) { f.receivers[0].Integrations = nil }, []string{"would-stop alert receiver on-call: has no integration"}},
		"not routed":     {func(f *alertFacts) { f.reached = []string{"other"} }, []string{"would-stop alert receiver on-call: goes to other"}},
	} {
		f := alertFacts{address: "am", receivers: []prom.Receiver{{Name: "on-call", Integrations: []string{"webhook"}}}, reached: []string{"on-call"}}
		tt.spoil(&f)
		require(t, name, judgeAlerts(f, "on-call"), tt.want...)
	}
}

func TestJudgeStack(t *testing.T) {
	t.Parallel()
	s := site.GPUStack{Namespace: "gpu-operator", ClusterPolicy: "policy", Operands: []string{"a", "b"}, GangScheduler: "auto"}
	for name, tt := range map[string]struct {
		f    stackFacts
		want []string
	}{
		"healthy":     {stackFacts{operands: []string{"b", "a", "c"}}, nil},
		"no policy":   {stackFacts{operands: []string{"a", "b"}, policyErr: notFound()}, []string{"would-stop GPU Operator ClusterPolicy policy: does not exist"}},
		"unread":      {stackFacts{operands: []string{"a", "b"}, policyErr: errors.New("down")}, []string{"unobserved GPU Operator ClusterPolicy policy: down"}},
		"no operand":  {stackFacts{operands: []string{"a"}}, []string{"would-stop GPU Operator namespace gpu-operator: has no DaemonSet b"}},
		"sets unread": {stackFacts{err: errors.New("down")}, []string{"unobserved GPU Operator namespace gpu-operator: down"}},
	} {
		require(t, name, judgeStack(tt.f, s), tt.want...)
	}
	for name, tt := range map[string]struct {
		f    gangFacts
		want []string
	}{
		"native":   {gangFacts{found: []workload.Detected{{Name: "native", API: "scheduling.k8s.io/v1alpha2"}}}, nil},
		"none":     {gangFacts{}, []string{"would-stop gang scheduler auto: none"}},
		"unread":   {gangFacts{err: errors.New("down")}, []string{"unobserved gang scheduler auto: down"}},
		"no queue": {gangFacts{found: []workload.Detected{{Name: "kai", API: "scheduling.run.ai/v2alpha2"}}}, []string{"would-stop gang scheduler auto: requires a queue"}},
	} {
		line, scheduler := judgeGang(tt.f, s)
		require(t, name, []Line{line}, tt.want...)
		if (scheduler == nil) != (len(tt.want) > 0) {
			t.Errorf("%s: scheduler %v", name, scheduler)
		}
	}
}

func TestJudgeAPI(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		want []string
	}{
		"answers": {nil, nil},
		"down":    {errors.New("connection refused"), []string{"would-stop Kubernetes API h: connection refused", "unobserved cluster h: were not checked"}},
		"refuses": {apierrors.NewUnauthorized("expired"), []string{"would-stop Kubernetes API h: refuses the credentials", "unobserved cluster h: were not checked"}},
	} {
		lines, reached := judgeAPI("h", "v1", tt.err)
		require(t, name, lines, tt.want...)
		if reached != (tt.err == nil) {
			t.Errorf("%s: reached %t", name, reached)
		}
	}
}

func TestJudgeFacility(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	signed := site.SignOff{By: "A. Person", Role: "manager", Reference: "1", At: "2026-11-01", Expires: "2027-11-01"}
	expired := signed
	expired.Expires = "2026-11-20"
	rack := site.Redfish{Name: "rack-1"}
	require(t, "healthy", judgeFacility([]controllerFacts{{controller: rack}}, signed, now))
	require(t, "refused", judgeFacility([]controllerFacts{{controller: rack, err: errors.New("401")}}, signed, now), "would-stop Redfish rack-1: 401")
	require(t, "expired", judgeFacility(nil, expired, now), "would-stop sign-off facility.signOff: expired")
}
