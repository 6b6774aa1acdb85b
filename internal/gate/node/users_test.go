package node_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/node"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/nvidia"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// holding is a cluster with a pod on gpu-01 that requests so many GPUs.
func holding(gpus string) *kube.Cluster {
	list := corev1.ResourceList{kube.GPUResource: resource.MustParse(gpus)}
	return &kube.Cluster{Client: fake.NewClientset(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "gpu-01"}},
		&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "train-0"}, Spec: corev1.PodSpec{
			NodeName: "gpu-01", Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Limits: list}}},
		}},
	)}
}

// The process_info of a document of nvidia-smi in NVIDIA's format, as drivers 470 to 580 print it.
const process = `<processes><process_info><gpu_instance_id>N/A</gpu_instance_id><compute_instance_id>N/A</compute_instance_id>
	<pid>4021</pid><type>TYPE</type><process_name>/usr/bin/python3</process_name><used_memory>71000 MiB</used_memory></process_info></processes>`

// The diagnostic is not started where a process or a pod uses a GPU: it would disturb a job, whose load reads as a defect of
// the GPU. The rest of the host is observed.
func TestGPUsInUse(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		kind    string // of the process; "": none
		cluster *kube.Cluster
		down    error
		spine   string
		says    []string // nil: the diagnostic runs
		note    string
	}{
		"a process":                     {kind: "C", cluster: holding("0"), says: []string{"process /usr/bin/python3 (PID 4021) on gpu1"}},
		"a process that draws":          {kind: "G", cluster: holding("0")},
		"under MPS":                     {kind: "M+C", cluster: holding("0"), says: []string{"PID 4021"}},
		"a pod":                         {cluster: holding("8"), says: []string{"pod team/train-0"}},
		"a process of a pod":            {kind: "C", cluster: holding("8"), says: []string{"pod team/train-0, process /usr/bin/python3"}},
		"a pod without GPUs":            {cluster: holding("0")},
		"an idle RayCluster":            {cluster: holding("8"), spine: site.SpineRay},
		"a job of Ray":                  {kind: "C", cluster: holding("8"), spine: site.SpineRay, says: []string{"pod team/train-0, process"}},
		"a process on a machine":        {kind: "C", spine: site.SpineSingleNode, says: []string{"PID 4021"}},
		"no cluster yet":                {down: errors.New("connection refused"), note: "connection refused"},
		"no cluster yet, but a process": {kind: "C", down: errors.New("connection refused"), says: []string{"PID 4021"}, note: "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers, ran := outputs(t), []string{}
			smi := answers["nvidia-smi -q -x"]
			if tt.kind != "" {
				text := string(smi.Stdout)
				at := strings.LastIndex(text, "</gpu>")
				smi.Stdout = []byte(text[:at] + strings.Replace(process, "TYPE", tt.kind, 1) + text[at:])
			}
			answers["nvidia-smi -q -x"] = smi
			s, p := testSite(1), testProfile(t)
			s.Spine, p.Node.GPUs.Value = tt.spine, 2
			g := node.New(s, p, node.Deps{
				Cluster: func(context.Context) (*kube.Cluster, error) { return tt.cluster, tt.down },
				Hosts: fakeHosts{run: func(_ context.Context, _, line string) (ssh.Output, error) {
					if strings.HasPrefix(line, "dcgmi diag") {
						ran = append(ran, line)
					}
					return answers[line], nil
				}},
			})
			rec := &recorder{}
			if err := g.Observe(t.Context(), rec); err != nil {
				t.Fatal(err)
			}
			if started := len(ran) > 0; started != (tt.says == nil) {
				t.Errorf("the diagnostic was started: %t", started)
			}
			kinds := rec.kindsOf("gpu-01")
			if !slices.Contains(kinds, "dmesg") || tt.says != nil && slices.Contains(kinds, "nvidia-smi-after") {
				t.Errorf("observed %v", kinds)
			}
			j := plan.Judge(g, rec.obs)
			var lines []string
			for _, f := range j.Findings {
				lines = append(lines, f.Suspect+" "+f.Message)
			}
			text := strings.Join(lines, "\n")
			for _, want := range append(slices.Clone(tt.says), tt.note) {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not in %s", want, text)
				}
			}
			old := slices.DeleteFunc(slices.Clone(rec.obs), func(o check.Observation) bool { return o.Kind == "pods" && o.Target != "cluster" })
			if diff := cmp.Diff(j.Findings, plan.Judge(g, old).Findings); diff != "" {
				t.Errorf("evidence with the pods of the start alone: %s", diff)
			}
			if used := strings.Contains(text, "in use"); used != (tt.says != nil) || used && strings.Contains(text, "dcgmi-diag was not run") {
				t.Error(text)
			}
		})
	}
}

// The pods of a host are those just before its diagnostic, not those at the start of the gate.
func TestPodsOfTheMomentOfTheDiagnostic(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		start, later string
		runs         bool
	}{"a pod came": {"0", "8", false}, "a pod ended": {"8", "0", true}} {
		answers, asked := outputs(t), 0
		var diagnosed atomic.Bool // by one of the commands under load
		s, p := testSite(1), testProfile(t)
		p.Node.GPUs.Value = 2
		g := node.New(s, p, node.Deps{
			Cluster: func(context.Context) (*kube.Cluster, error) {
				if asked++; asked == 1 {
					return holding(tt.start), nil
				}
				return holding(tt.later), nil
			},
			Hosts: fakeHosts{run: func(_ context.Context, _, line string) (ssh.Output, error) {
				if strings.HasPrefix(line, "dcgmi diag") {
					diagnosed.Store(true)
				}
				return answers[line], nil
			}},
		})
		rec := &recorder{}
		if err := g.Observe(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
		inUse := slices.ContainsFunc(plan.Judge(g, rec.obs).Findings, func(f check.Finding) bool { return strings.Contains(f.Message, "in use") })
		if ran := diagnosed.Load(); ran != tt.runs || inUse == tt.runs {
			t.Errorf("%s: the diagnostic ran: %t; reported in use: %t", name, ran, inUse)
		}
	}
}

// A host in use, healthy in all that was observed, is unobserved and not failed.
func TestAHostInUseIsUnobserved(t *testing.T) {
	t.Parallel()
	hosts := healthy(t, 2)
	h := hosts[1]
	h.Before.Log.GPUs[3].Processes = append(h.Before.Log.GPUs[3].Processes, processOf())
	for _, kind := range []string{"dcgmi-diag", "nvidia-smi-load", "nvidia-smi-after", "nvidia-smi-nvlink-errors-after"} {
		h.Gone[kind] = true
	}
	j := judge(t, hosts)
	if j.Verdict != check.Unobserved || len(j.Findings) != 1 || j.Findings[0].Suspect != "gpu-02" || !strings.Contains(j.Findings[0].Message, "the diagnostic was not started: process nvvs (PID 77) on gpu3") {
		t.Errorf("%s: %+v", j.Verdict, j.Findings)
	}
}

func processOf() nvidia.Process { return nvidia.Process{PID: "77", Name: "nvvs"} }
