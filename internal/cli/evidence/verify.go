package evidence

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/cli/cmdutil"
	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/attest"
	"github.com/firstlight/firstlight/internal/evidence/oci"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// verification is the -o json form of verify.
type verification struct {
	// Bundle is the argument of the command.
	Bundle string `json:"bundle"`
	// Intact: everything was checked and nothing is wrong.
	Intact  bool           `json:"intact"`
	Outcome attest.Outcome `json:"outcome"`
	// Digest is that of the manifest, which covers the whole run.
	Digest string `json:"digest,omitempty"`
	attest.Report
}

func newVerify(s cmdutil.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify BUNDLE|DIR|oci://REFERENCE",
		Short: "Verify the signature, the files and the verdicts of a run",
		Long: `Verify the signature, the statement, the manifest, every file, that every planned step
has a result, and that every verdict follows from the observations. All problems are
reported. No network is used except for an oci:// reference.

A bundle has the site and profile that it was judged against, but cannot prove that they
are yours. --site, --profile and --cluster compare them with the expected ones, and refuse
a run of one gate alone (accept --only).

--bundle verifies the signature of an identity (sign --identity-token-file) offline, with
the Sigstore trusted root, for the given identity and issuer.

Without --key or --bundle the signer is unknown, which does not pass (exit 3) unless
--unsigned is set. The directory of an unsigned run is still verified; with --key it
fails.

Exit codes: 0 verified (the run itself may have failed); 1 a check failed; 2 invalid input;
3 a check could not be made.`,
		Example: `  # Verify an archive
  firstlight evidence verify 20261121-014233-7f3a.tar.gz --key firstlight.pub

  # Verify that the run is of this site and cluster
  firstlight evidence verify 20261121-014233-7f3a.tar.gz --key firstlight.pub --site prod.yaml --cluster "$(kubectl get namespace kube-system -o jsonpath={.metadata.uid})"

  # Verify a run in a registry
  firstlight evidence verify oci://registry.example.com/acceptance:20261121 --key firstlight.pub

  # Verify the signature of an identity
  firstlight evidence verify 20261121-014233-7f3a.tar.gz --bundle run.sigstore.json --trusted-root trusted_root.json --certificate-identity acceptance@example.com --certificate-oidc-issuer https://accounts.example.com`,
		Args: cobra.ExactArgs(1),
	}
	out := cmdutil.AddOutputFlag(cmd)
	keyFiles := cmd.Flags().StringArray("key", nil, "public key of an accepted signer (repeatable; one must match)")
	unsigned := cmd.Flags().Bool("unsigned", false, "accept a run without a known signer")
	siteFile := cmd.Flags().String("site", "", "expected site file")
	profileFile := cmd.Flags().String("profile", "", "expected profile, by name or file")
	cluster := cmd.Flags().String("cluster", "", "expected cluster, by the UID of its kube-system namespace")
	plain := addPlainHTTP(cmd)
	cmd.MarkFlagsMutuallyExclusive("key", "unsigned")
	var keyless keylessVerify
	keyless.add(cmd)
	cmd.RunE = func(c *cobra.Command, args []string) error {
		o := attest.Options{Unsigned: *unsigned, ChecksFor: ChecksOf}
		var err error
		if o.Expected, err = expectedOf(*siteFile, *profileFile, *cluster); err != nil {
			return err
		}
		if err := keyless.options(&o); err != nil {
			return err
		}
		if o.Keys, err = PublicKeys(*keyFiles); err != nil {
			return err
		}
		temp, err := os.MkdirTemp("", "firstlight-verify-")
		if err != nil {
			return cmdutil.Unobserved(err)
		}
		defer func() { _ = os.RemoveAll(temp) }() // a temporary directory
		show := newTransfer(s.Err, "verify")
		o.Tell = show.progress
		v, err := verifyAny(c.Context(), args[0], temp, *plain, show, o)
		show.close(err)
		if err != nil {
			return err
		}
		err = out.Write(s.Out, v, func(w io.Writer) { printVerification(w, v, cmdutil.StyleOf(s.Out)) })
		if err != nil {
			return err
		}
		switch v.Outcome {
		case attest.OK:
			return nil
		case attest.Wrong:
			return &cmdutil.ExitError{Code: cmdutil.ExitFailed}
		default:
			return &cmdutil.ExitError{Code: cmdutil.ExitUnobserved}
		}
	}
	return cmd
}

// expectedOf reads what the run must match.
func expectedOf(siteFile, profileFile, cluster string) (attest.Expected, error) {
	e := attest.Expected{Cluster: cluster}
	var err error
	if siteFile != "" {
		if e.Site, err = os.ReadFile(siteFile); err != nil {
			return e, cmdutil.UsageErrorf("cannot read --site: %w", err)
		}
		if e.Profiles, err = profilesOfGroups(e.Site); err != nil {
			e.Unread = err.Error()
		}
	}
	if profileFile != "" {
		if e.Profile, err = profile.Raw(profileFile); err != nil {
			return e, cmdutil.UsageErrorf("cannot read --profile: %w", err)
		}
	}
	return e, nil
}

// profilesOfGroups are the profiles of the groups of a site, of which this program has those with a name. The
// rest of the site is not read: the site is compared as a file, and another version of firstlight may have written it.
func profilesOfGroups(data []byte) (map[string][]byte, error) {
	var doc struct {
		Groups []struct {
			Name    string `yaml:"name"`
			Profile string `yaml:"profile"`
		} `yaml:"groups"`
	}
	if err := cmp.Or(yamlstrict.Unique(data), yaml.Unmarshal(data, &doc)); err != nil {
		return nil, fmt.Errorf("read the groups of the site: %w", err)
	}
	out := map[string][]byte{}
	for _, g := range doc.Groups {
		raw, err := profile.Raw(g.Profile)
		if err != nil {
			return nil, fmt.Errorf("read the profile of group %s: %w", g.Name, err)
		}
		out[site.Group{Name: g.Name}.ProfileFile()] = raw
	}
	return out, nil
}

// verifyAny verifies a directory, an archive or an OCI reference.
func verifyAny(ctx context.Context, given, temp string, plain bool, show *transfer, o attest.Options) (verification, error) {
	path := given
	if strings.HasPrefix(given, oci.Scheme) {
		path = filepath.Join(temp, "run.tar.gz")
		if _, err := oci.Pull(ctx, given, path, oci.Options{PlainHTTP: plain, Tell: show.bytes}); err != nil {
			return verification{}, ociError(err)
		}
	}
	var dir string
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		show.progress("unpacking")
		u, err := unpackTo(ctx, path, temp)
		if err != nil {
			return verification{}, err
		}
		o.Archive = &attest.Archive{Files: u.Files, Problems: u.Problems}
		if dir = u.Dir; dir == "" {
			return newVerification(given, attest.Refused(*o.Archive)), nil
		}
	} else if dir, err = cmdutil.RunDir(path); err != nil {
		return verification{}, err
	} else if _, err := evidence.Attestation(dir); errors.Is(err, fs.ErrNotExist) && len(o.Keys) == 0 && o.Bundle == nil {
		o.Unsigned = true
	}
	r, err := attest.Verify(ctx, dir, o)
	if err != nil {
		return verification{}, cmdutil.UsageErrorf("%w", err)
	}
	return newVerification(given, r), nil
}

func newVerification(given string, r attest.Report) verification {
	return verification{Bundle: given, Intact: r.Outcome() == attest.OK, Outcome: r.Outcome(), Digest: r.Manifest, Report: r}
}

func printVerification(w io.Writer, v verification, style display.Style) {
	if v.Run != "" {
		hardware := ""
		switch v.Simulated {
		case evidence.HardwareReal:
		case evidence.HardwareSimulated:
			hardware = " on SIMULATED hardware"
		default:
			hardware = " on hardware that was NOT IDENTIFIED"
		}
		narrowed := ""
		if len(v.NarrowedBy) > 0 && v.State != attest.Interrupted {
			narrowed = ", narrowed"
		}
		fmt.Fprintf(w, "run %s: %s%s%s, %s\n", style.Bold(display.Escape(v.Run)), display.Escape(string(v.Verdict)), narrowed, hardware, display.Escape(v.Progress()))
		for _, reason := range v.NarrowedBy {
			fmt.Fprintf(w, "  narrowed: %s\n", display.Escape(reason))
		}
		fmt.Fprintln(w)
	}
	for _, c := range v.Checks {
		fmt.Fprintf(w, "  %s  %s\n", style.State(stateOfCheck(c.Outcome), fmt.Sprintf("%-13s %-11s", c.Check, c.Outcome)), display.Escape(c.Detail))
	}
	if v.Digest != "" {
		fmt.Fprintf(w, "\nmanifest sha256 %s\n", v.Digest)
	}
	switch v.Outcome {
	case attest.OK:
		fmt.Fprintf(w, "%s is intact: every file matches the manifest, every verdict follows from the observations\n", v.Bundle)
	case attest.Wrong:
		fmt.Fprintf(w, "%s is NOT intact:\n%s\n", v.Bundle, display.Escape(v.String()))
	default:
		fmt.Fprintf(w, "%s: nothing is wrong, but not everything was checked: %s\n", v.Bundle, strings.Join(v.Unchecked(), ", "))
	}
}

func stateOfCheck(o attest.Outcome) display.State {
	switch o {
	case attest.OK:
		return display.Done
	case attest.Wrong:
		return display.Failed
	case attest.None:
		return display.Skipped
	default:
		return display.Unknown
	}
}
