package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/embedded"
	"github.com/firstlight/firstlight/internal/world"
)

func newLabFault(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fault",
		Short: "Break the lab's hardware on purpose, and repair it",
		Example: `  firstlight lab fault list --kinds
  firstlight lab fault add link-degraded gpu-02/mlx5_3 --set how=width
  firstlight lab fault list
  firstlight lab fault clear --all`,
	}
	cmd.AddCommand(newFaultAdd(s), newFaultList(s), newFaultClear(s))
	return cmd
}

func newFaultAdd(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add KIND [TARGET]",
		Short: "Add a fault; without a target, to the kind's usual one",
		Args:  cobra.RangeArgs(1, 2),
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
	set := cmd.Flags().StringToString("set", nil, "options of the kind, as name=value")
	out := addOutputFlag(cmd)
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
		if err := askWorld(cmd.Context(), *name, http.MethodPost, "/faults", body, &added); err != nil {
			return err
		}
		return out.write(s.Out, added, func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "%s: %s at %s; expect %s\n", added.ID, added.Kind, added.Target, expected(added.Kind, added.Gate))
			return err
		})
	}
	return cmd
}

// expected says what has to fail because of a fault, and what shows it.
func expected(kind, gate string) string {
	for _, k := range world.Catalogue() {
		if k.Kind == kind && k.Requirement != "" {
			return "requirement " + k.Requirement + " to fail: firstlight validate --step " + k.Requirement
		}
	}
	return "gate " + orNone(gate) + " to fail"
}

func newFaultList(s Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the active faults, or the kinds there are"}
	name := addLabName(cmd)
	kinds := cmd.Flags().Bool("kinds", false, "list the kinds that can be added")
	out := addOutputFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *kinds {
			list := embedded.Kinds{Kinds: append(world.Catalogue(), world.Variations()...)}
			return out.write(s.Out, list, func(w io.Writer) error { return printKinds(w, list.Kinds) })
		}
		var list embedded.Faults
		if err := askWorld(cmd.Context(), *name, http.MethodGet, "/faults", nil, &list); err != nil {
			return err
		}
		return out.write(s.Out, list, func(w io.Writer) error {
			if len(list.Faults) == 0 {
				_, err := fmt.Fprintln(w, "no faults")
				return err
			}
			tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
			fmt.Fprintln(tw, "ID\tKIND\tTARGET\tGATE\tSINCE")
			for _, f := range list.Faults {
				fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", f.ID, f.Kind, f.Target, orNone(f.Gate), f.Since.UTC().Format("15:04:05Z"))
			}
			return tw.Flush()
		})
	}
	return cmd
}

func printKinds(w io.Writer, kinds []world.FaultKind) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "KIND\tGATE\tTARGET\tUSUAL TARGET\tWHAT")
	for _, k := range kinds {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", k.Kind, orNone(k.Gate), k.TargetForm, k.DefaultTarget, k.Summary)
		for _, o := range k.Options {
			fmt.Fprintf(tw, "\t\t\t\t  --set %s=%s: %s\n", o.Name, o.Default, o.Summary)
		}
	}
	return tw.Flush() //nolint:wrapcheck // our own stream
}

func newFaultClear(s Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "clear [ID]", Short: "Repair one fault, or all", Args: cobra.MaximumNArgs(1)}
	name := addLabName(cmd)
	all := cmd.Flags().Bool("all", false, "clear every fault")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path := "/faults"
		switch {
		case len(args) == 1 && !*all:
			path += "/" + url.PathEscape(args[0])
		case len(args) == 0 && *all:
		default:
			return usage("name one fault's ID, or give --all")
		}
		if err := askWorld(cmd.Context(), *name, http.MethodDelete, path, nil, &struct{}{}); err != nil {
			return err
		}
		fmt.Fprintln(s.Err, "cleared")
		return nil
	}
	return cmd
}

// askWorld asks the world of a lab that is up. What the world refuses is bad input.
func askWorld(ctx context.Context, name, method, path string, body []byte, into any) error {
	h, err := lab.Attach(ctx, name)
	if err != nil {
		return infrastructure(err)
	}
	resp, err := h.Do(ctx, method, "/world"+path, bytes.NewReader(body))
	if err != nil {
		return usage("%w", err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		return infrastructure(fmt.Errorf("read the lab's answer: %w", err))
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
