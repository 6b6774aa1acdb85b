package autoscale

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/adapterrules"
)

func newAutoscaleRules(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "Print the rules that prometheus-adapter serves GPU metrics with",
		Long: `rules prints the configuration of prometheus-adapter with which it serves GPU
metrics of dcgm-exporter: external (dcgm_gpu_power_usage, dcgm_gpu_utilization,
dcgm_gpu_memory_used) and custom, per pod and namespace (gpu_* and workload_gpu_*,
by whether Prometheus scrapes with honor_labels). The lab's adapter runs with the
same rules. Put them into the adapter's ConfigMap and restart it.`,
		Example: `  firstlight autoscale rules
  firstlight autoscale rules --window 30s > adapter-config.yaml`,
	}
	window := cmd.Flags().Duration("window", adapterrules.DefaultWindow, "time that every figure is averaged over; at least two scrapes")
	cmd.RunE = func(*cobra.Command, []string) error {
		text, err := adapterrules.Render(*window)
		if err != nil {
			return usage("--window: %w", err)
		}
		_, err = io.WriteString(s.Out, text)
		return infrastructure(err)
	}
	return cmd
}
