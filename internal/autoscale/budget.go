package autoscale

import (
	"slices"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// Cost is one setting that delays a hop.
type Cost struct {
	Setting string
	// Why it delays the hop, at most by its value.
	Why string
}

// costs of the hops. A hop's budget is the sum of its settings' values: the worst case. A
// hop without a row only needs the time of its own work.
var costs = map[string][]Cost{
	snapshot.HopSeries: {
		{snapshot.SettingScrape, "a series is as old as the last scrape"},
	},
	snapshot.HopPlaced: {
		{snapshot.SettingBatchMax, "Karpenter gathers pending pods before it makes a node"},
		{snapshot.SettingRegistration, "the first replica's node has to boot"},
	},
	snapshot.HopServed: {
		{snapshot.SettingSample, "the exporter has to see the holder on its GPU"},
		{snapshot.SettingScrape, "Prometheus has to read it"},
		{snapshot.SettingRelist, "the adapter lists new series only so often"},
	},
	snapshot.HopFlat: {
		{settingWindow, "the control window is as long as it is asked for"},
	},
	snapshot.HopExporter: {
		{snapshot.SettingSample, "the load may begin just after a sample"},
	},
	snapshot.HopPrometheus: {
		{snapshot.SettingScrape, "the sample may come just after a scrape"},
		{snapshot.SettingWindow, "an average reaches the new value only when the window is full of it"},
	},
	snapshot.HopMetricsAPI: {
		{snapshot.SettingRelist, "the load's series are new to the adapter, where it filters by series; else it answers at once"},
	},
	snapshot.HopHPA: {
		{snapshot.SettingHPASync, "the HPA may have looked just before"},
	},
	snapshot.HopNodeClaim: {
		{snapshot.SettingBatchMax, "Karpenter gathers pending pods, at least for the idle and at most for the maximum duration"},
	},
	snapshot.HopRegistered: {
		{snapshot.SettingRegistration, "the instance has to boot and join"},
	},
	snapshot.HopMetricFalls: {
		{snapshot.SettingSample, "the load may end just after a sample"},
		{snapshot.SettingScrape, "the sample may come just after a scrape"},
		{snapshot.SettingWindow, "an average falls only when the window has forgotten the load"},
		{snapshot.SettingRelist, "the adapter may still know the load's series"},
	},
	snapshot.HopHPADown: {
		{snapshot.SettingStabilization, "the HPA takes the highest recommendation of this window"},
		{snapshot.SettingHPASync, "the HPA may have looked just before"},
	},
	snapshot.HopNodesGone: {
		{snapshot.SettingConsolidate, "a node must have been quiet for so long"},
		{snapshot.SettingNomination, "Karpenter does not remove a node that it lately chose for a pending pod"},
		{snapshot.SettingDisruption, "Karpenter polls for nodes to remove at this interval"},
		{snapshot.SettingValidation, "Karpenter validates a removal after this time"},
		{snapshot.SettingTermination, "drain the node, delete the instance"},
	},
	snapshot.HopGangBound: {
		{snapshot.SettingBatchMax, "Karpenter gathers pending pods before it makes nodes"},
		{snapshot.SettingRegistration, "the gang's nodes have to boot"},
	},
	snapshot.HopGangNone: {
		{snapshot.SettingBatchMax, "Karpenter gathers pending pods before it makes nodes"},
		{snapshot.SettingRegistration, "all nodes but one have to boot"},
		{settingWindow, "it is watched as long as the control window"},
	},
}

// settingWindow is the chain's own: the duration of the control window.
const settingWindow = "window"

// valueOf returns a setting, including settingWindow.
func valueOf(name string, s snapshot.Setup) snapshot.Setting {
	if name == settingWindow {
		return snapshot.Setting{Name: settingWindow, Value: s.Window, Source: "site autoscale.window"}
	}
	return s.Setting(name)
}

// budgetOf is the worst case of a hop's settings; 0 without any.
func budgetOf(hop string, s snapshot.Setup) time.Duration {
	var sum time.Duration
	for _, c := range costs[hop] {
		sum += max(0, valueOf(c.Setting, s).Value.Duration)
	}
	return sum
}

// slowest is the setting with the largest total delay in a phase, with its hops. The name
// is empty without one.
func slowest(phase string, s snapshot.Setup) (setting snapshot.Setting, hops []string) {
	var best time.Duration
	for _, name := range settingsOf(phase) {
		v := valueOf(name, s)
		on := hopsOf(phase, name)
		if sum := v.Value.Duration * time.Duration(len(on)); sum > best {
			best, setting, hops = sum, v, on
		}
	}
	return setting, hops
}

// settingsOf lists the settings that delay hops of a phase.
func settingsOf(phase string) []string {
	var out []string
	for _, hop := range hopsIn(phase) {
		for _, c := range costs[hop] {
			if !slices.Contains(out, c.Setting) {
				out = append(out, c.Setting)
			}
		}
	}
	return out
}

// hopsOf lists the hops of a phase that a setting delays.
func hopsOf(phase, setting string) []string {
	return slices.DeleteFunc(hopsIn(phase), func(hop string) bool {
		return !slices.ContainsFunc(costs[hop], func(c Cost) bool { return c.Setting == setting })
	})
}

func hopsIn(phase string) []string {
	for _, p := range snapshot.Chain() {
		if p.Name == phase {
			return slices.Clone(p.Hops)
		}
	}
	return nil
}
