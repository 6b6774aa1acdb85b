package lab

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/embedded"
	"github.com/firstlight/firstlight/internal/world"
)

func newFault(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fault",
		Short: "Inject and repair hardware faults of a lab",
		Example: `  firstlight lab fault list --kinds
  firstlight lab fault add link-degraded gpu-02/mlx5_3 --set how=width
  firstlight lab fault list
  firstlight lab fault clear --all`,
	}
	cmd.AddCommand(newFaultAdd(s), newFaultList(s), newFaultClear(s))
	return cmd
}

func newFaultAdd(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add KIND [TARGET]",
		Short: "Add a fault; the default target depends on the kind",
		Example: `  firstlight lab fault add gpu-off-bus gpu-03/gpu5
  firstlight lab fault add link-degraded gpu-02/mlx5_3 --set how=width`,
		Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			var kinds []string
			if len(args) == 0 {
				for _, k := range append(world.Catalogue(), world.Variations()...) {
					kinds = append(kinds, k.Kind+"\t"+k.Summary)
				}
			}
			return kinds, cobra.ShellCompDirectiveNoFileComp
		},
	}
	name := addLabName(cmd)
	set := cmdutil.MapFlag(cmd, "set", "options of the fault, as `NAME=VALUE`")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f := world.Fault{Kind: args[0], Options: *set}
		if len(args) == 2 {
			f.Target = args[1]
		}
		body, err := json.Marshal(f)
		if err != nil {
			return fmt.Errorf("encode the fault: %w", err)
		}
		var added embedded.Fault
		if err := callWorld(cmd.Context(), *name, http.MethodPost, "/faults", body, &added); err != nil {
			return err
		}
		return out.Write(s.Out, added, func(w io.Writer) {
			fmt.Fprintf(w, "%s: %s at %s; expect %s\n", added.ID, added.Kind, added.Target, expected(added.Kind, added.Gate))
		})
	}
	return cmd
}

// expected is what a fault makes fail, with the command that shows it.
func expected(kind, gate string) string {
	for _, k := range world.Catalogue() {
		if k.Kind == kind && k.Requirement != "" {
			return "requirement " + k.Requirement + " to fail: firstlight validate --step " + k.Requirement
		}
	}
	return "gate " + cmp.Or(gate, "-") + " to fail"
}

func newFaultList(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the active faults, or the kinds of faults", Example: "  firstlight lab fault list\n  firstlight lab fault list --kinds"}
	name := addLabName(cmd)
	kinds := cmd.Flags().Bool("kinds", false, "list the kinds of faults")
	out := cmdutil.AddOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *kinds {
			list := embedded.Kinds{Kinds: append(world.Catalogue(), world.Variations()...)}
			return out.Write(s.Out, list, func(w io.Writer) { printKinds(w, list.Kinds) })
		}
		var list embedded.Faults
		if err := callWorld(cmd.Context(), *name, http.MethodGet, "/faults", nil, &list); err != nil {
			return err
		}
		return out.Write(s.Out, list, func(w io.Writer) {
			if len(list.Faults) == 0 {
				fmt.Fprintln(w, "no faults")
				return
			}
			table := display.NewTable(w, "ID", "KIND", "TARGET", "GATE", "SINCE")
			for _, f := range list.Faults {
				table.Row(f.ID, f.Kind, f.Target, f.Gate, f.Since.UTC().Format("15:04:05Z"))
			}
			table.Flush()
		})
	}
	return cmd
}

func printKinds(w io.Writer, kinds []world.FaultKind) {
	table := display.NewTable(w, "KIND", "GATE", "TARGET", "DEFAULT TARGET", "DESCRIPTION")
	for _, k := range kinds {
		table.Row(k.Kind, k.Gate, k.TargetForm, k.DefaultTarget, k.Summary)
		for _, o := range k.Options {
			table.Line("", "", "", "", fmt.Sprintf("  --set %s=%s: %s", o.Name, o.Default, o.Summary))
		}
	}
	table.Flush()
}

func newFaultClear(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "clear [ID]", Short: "Repair one fault, or all of them", Example: "  firstlight lab fault clear f1\n  firstlight lab fault clear --all", Args: cobra.MaximumNArgs(1)}
	name := addLabName(cmd)
	all := cmd.Flags().Bool("all", false, "clear all faults")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path := "/faults"
		switch {
		case len(args) == 1 && !*all:
			path += "/" + url.PathEscape(args[0])
		case len(args) == 0 && *all:
		default:
			return cmdutil.UsageErrorf("want the ID of one fault, or --all")
		}
		if err := callWorld(cmd.Context(), *name, http.MethodDelete, path, nil, &struct{}{}); err != nil {
			return err
		}
		fmt.Fprintln(s.Err, "cleared")
		return nil
	}
	return cmd
}

// callWorld sends a request to the world of a running lab. A refusal is a usage error.
func callWorld(ctx context.Context, name, method, path string, body []byte, into any) error {
	h, err := lab.Attach(ctx, name)
	if err != nil {
		return cmdutil.Unobserved(err)
	}
	resp, err := h.Do(ctx, method, "/world"+path, bytes.NewReader(body))
	if err != nil {
		return cmdutil.UsageErrorf("%w", err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return cmdutil.Unobserved(fmt.Errorf("cannot read the lab's response: %w", err))
	}
	return nil
}
