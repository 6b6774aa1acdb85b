package settings

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// The options of the programs, with their upstream defaults.

func adapterOptions() []option {
	return []option{{setting: snapshot.SettingRelist, flags: []string{"metrics-relist-interval"}, otherwise: 10 * time.Minute}}
}

func controllerManagerOptions() []option {
	return []option{{setting: snapshot.SettingHPASync, flags: []string{"horizontal-pod-autoscaler-sync-period"}, otherwise: 15 * time.Second}}
}

func exporterOptions() []option {
	return []option{{
		setting: snapshot.SettingSample, flags: []string{"collect-interval", "c"}, env: []string{"DCGM_EXPORTER_INTERVAL"},
		unit: time.Millisecond, otherwise: 30 * time.Second,
	}}
}

func karpenterOptions() []option {
	return []option{
		{setting: snapshot.SettingBatchIdle, flags: []string{"batch-idle-duration"}, env: []string{"BATCH_IDLE_DURATION"}, otherwise: time.Second},
		{setting: snapshot.SettingBatchMax, flags: []string{"batch-max-duration"}, env: []string{"BATCH_MAX_DURATION"}, otherwise: 10 * time.Second},
	}
}

// clusterAutoscalerOptions maps its options to the same settings: the scan interval for
// pods and nodes, and the time before an unneeded node is removed.
func clusterAutoscalerOptions() []option {
	scan := option{flags: []string{"scan-interval"}, otherwise: 10 * time.Second}
	batch, look := scan, scan
	batch.setting, look.setting = snapshot.SettingBatchMax, snapshot.SettingDisruption
	return []option{batch, look, {setting: snapshot.SettingConsolidate, flags: []string{"scale-down-unneeded-time"}, otherwise: 10 * time.Minute}}
}

// Constants of Karpenter 1.0 to 1.14 without a setting.
const (
	karpenterPoll       = 10 * time.Second // pkg/controllers/disruption pollingPeriod
	karpenterValidation = 15 * time.Second // pkg/controllers/disruption commandValidationDelay
	karpenterDrain      = 5 * time.Second  // pkg/controllers/node/termination MinDrainTime
	// pkg/controllers/state/statenode.go nominationWindow: so many times the longest batch, at
	// least the other.
	nominationBatches = 2
	leastNomination   = 10 * time.Second
)

// Assumed values.
const (
	// bootTime of a GPU instance until it has registered.
	bootTime = 3 * time.Minute
	// endTime of an instance after its drain.
	endTime = time.Minute
)

func (f *finder) exporter(ctx context.Context) {
	ns := f.w.Site.GPUStack.Namespace
	source := "DaemonSet " + ns + "/dcgm-exporter"
	var containers []corev1.Container
	list, err := f.w.Cluster.Client.AppsV1().DaemonSets(ns).List(ctx, metav1.ListOptions{})
	if err == nil {
		for _, d := range list.Items {
			if strings.Contains(d.Name, "dcgm-exporter") {
				source, containers = "DaemonSet "+ns+"/"+d.Name, d.Spec.Template.Spec.Containers
			}
		}
	}
	f.options(exporterOptions(), containers, source)
}

func (f *finder) karpenter(ctx context.Context) {
	d, source := f.deployment(ctx, f.w.Site.Autoscale.Controller)
	f.options(karpenterOptions(), containersOf(d), source)
}

// nomination adds the time for which Karpenter does not remove a node that it chose for a pending pod.
// It follows from the longest batch, unless the site states it.
func (f *finder) nomination() {
	for _, s := range f.found.Settings {
		if s.Name == snapshot.SettingNomination {
			return
		}
	}
	for _, s := range f.found.Settings {
		if s.Name == snapshot.SettingBatchMax {
			f.add(snapshot.SettingNomination, max(nominationBatches*s.Value.Duration, leastNomination), "Karpenter: twice karpenter-batch-max, at least 10s; "+s.Source, s.Assumed)
			return
		}
	}
}

func (f *finder) clusterAutoscaler(ctx context.Context) {
	d, source := f.deployment(ctx, f.w.Site.Autoscale.Controller)
	f.options(clusterAutoscalerOptions(), containersOf(d), source)
	f.add(snapshot.SettingRegistration, bootTime, "assumed: boot time of a GPU instance", true)
	f.add(snapshot.SettingTermination, endTime, "assumed: termination time of an instance", true)
}

// controllerManager reads the arguments of the static pod, which managed control planes do
// not show.
func (f *finder) controllerManager(ctx context.Context) {
	source := "Pod kube-system/kube-controller-manager"
	list, err := f.w.Cluster.Client.CoreV1().Pods(metav1.NamespaceSystem).List(ctx, metav1.ListOptions{LabelSelector: "component=kube-controller-manager"})
	var containers []corev1.Container
	if err == nil && len(list.Items) > 0 {
		source, containers = "Pod kube-system/"+list.Items[0].Name, list.Items[0].Spec.Containers
	}
	f.options(controllerManagerOptions(), containers, source)
}
