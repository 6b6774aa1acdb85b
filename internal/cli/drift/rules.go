package drift

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/drift/slo"
)

func newRules(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules RUN",
		Short: "Print burn-rate alert rules for the limits that a run was accepted with",
		Long: `Print alert rules for Prometheus that fire if busbw, MFU, TTFT or TPOT miss the limits of an
accepted run for so long that they use up the error budget. RUN is the directory of an accepted
run, or the file of a recorded baseline. busbw and MFU are metrics of firstlight drift metrics;
TTFT and TPOT are those of all requests, from the histograms of vLLM.

The rules also fire if figures are missing or older than --max-age.`,
		Example: `  firstlight drift rules evidence/20261121-014233-7f3a > firstlight.rules.yaml

  # For prometheus-operator, with the labels that its ruleSelector requires
  firstlight drift rules prod.baseline.json --prometheus-rule monitoring/firstlight-slo --label release=prom --selector 'namespace="chat"'`,
		Args: cobra.ExactArgs(1),
	}
	flags := cmd.Flags()
	selector := flags.String("selector", "", "label matchers of the inference servers' series, as in PromQL (default: all servers)")
	maxAge := flags.Duration("max-age", 36*time.Hour, "maximum age of the newest run's figures: more than the interval and the duration of firstlight drift")
	object := flags.String("prometheus-rule", "", "NAMESPACE/NAME: print a PrometheusRule instead of a rule file")
	labels := cmdutil.MapFlag(cmd, "label", "labels of the PrometheusRule, as `NAME=VALUE`")
	keys := addKeys(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		namespace, name, named := strings.Cut(*object, "/")
		switch {
		case *object != "" && (!named || namespace == "" || name == ""):
			return cmdutil.UsageErrorf("invalid --prometheus-rule %q: must be NAMESPACE/NAME", *object)
		case *object == "" && len(*labels) > 0:
			return cmdutil.UsageErrorf("--label needs --prometheus-rule: a rule file has no labels")
		case *maxAge <= 0:
			return cmdutil.UsageErrorf("invalid --max-age %s: must be above 0", *maxAge)
		}
		b, err := against(cmd.Context(), args[0], *keys)
		if err != nil {
			return err
		}
		file, err := slo.Rules(slo.Options{Site: b.Site, Cluster: b.Cluster, Figures: b.Headlines, Selector: *selector, MaxAge: *maxAge})
		if err != nil {
			return cmdutil.UsageErrorf("%w", err)
		}
		var out any = file
		if *object != "" {
			metadata := map[string]any{"namespace": namespace, "name": name}
			if len(*labels) > 0 {
				metadata["labels"] = *labels
			}
			out = map[string]any{"apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule", "metadata": metadata, "spec": file}
		}
		return cmdutil.WriteWhole(s.Out, func(w io.Writer) error { return yaml.NewEncoder(w).Encode(out) })
	}
	return cmd
}
