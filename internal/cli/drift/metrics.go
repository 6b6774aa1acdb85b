package drift

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	clievidence "github.com/firstlight/firstlight/internal/cli/evidence"
	"github.com/firstlight/firstlight/internal/drift/slo"
	"github.com/firstlight/firstlight/internal/evidence"
)

func newMetrics(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "metrics SITE",
		Short: "Print the figures of the newest run of a site in Prometheus text format and exit",
		Long: `Print the figures, limits and results of the newest finished firstlight accept or drift of a
site, for the textfile collector of a node exporter; firstlight drift rules prints alert rules
for them. SITE is the name in the site file. Runs with --only, --from or --add do not count:
they have no figures of the whole cluster, or figures of an earlier run.

The evidence is verified first. If it does not verify, the only metric is
firstlight_run_verified 0, also in the file of --write.

Exit codes: 0 printed; 1 the evidence does not verify; 2 no run; 3 it could not be verified.`,
		Example: `  firstlight drift metrics prod
  firstlight drift metrics prod --write /var/lib/node_exporter/textfile/firstlight.prom`,
		Args: cobra.ExactArgs(1),
	}
	dir := cmd.Flags().String("evidence", "evidence", "directory of the runs")
	path := cmd.Flags().String("write", "", "file to replace atomically, instead of standard output")
	keys := addKeys(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		run, err := newestRun(*dir, args[0])
		if err != nil {
			return err
		}
		b, _, problem := clievidence.Verified(cmd.Context(), run, *keys, "a source of metrics")
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(slo.Runs{Site: args[0], Newest: b})
		families, err := registry.Gather()
		if err != nil {
			return cmdutil.Unobserved(fmt.Errorf("build metrics: %w", err))
		}
		return errors.Join(problem, cmdutil.WriteMetrics(s.Out, *path, families))
	}
	return cmd
}

// newestRun is the directory of the newest finished accept or drift of a site.
func newestRun(dir, site string) (string, error) {
	ids, err := evidence.List(dir)
	if err != nil {
		return "", cmdutil.UsageErrorf("%w", err)
	}
	for _, id := range slices.Backward(ids) {
		path := filepath.Join(dir, id)
		b, err := evidence.Load(path)
		if err != nil {
			return path, nil // it may be of the site: its verification reports the error
		}
		h := b.Header
		if h.Site == site && b.Finished && h.Only == "" && h.AddedTo == "" && h.From == "" && len(h.Command) > 1 && slices.Contains([]string{"accept", "drift"}, h.Command[1]) {
			return path, nil
		}
	}
	return "", cmdutil.UsageErrorf("%s has no finished accept or drift of site %s", dir, site)
}
