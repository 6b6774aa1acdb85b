package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstlight/firstlight/internal/display"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/attest"
	"github.com/firstlight/firstlight/internal/evidence/oci"
	"github.com/firstlight/firstlight/internal/profile"
)

// verification is the -o json form of verify.
type verification struct {
	// Bundle is what was verified, as it was given.
	Bundle string `json:"bundle"`
	// Intact: everything that was wanted was checked, and is as it should be.
	Intact  bool           `json:"intact"`
	Outcome attest.Outcome `json:"outcome"`
	// Digest stands for the whole run.
	Digest string `json:"digest,omitempty"`
	attest.Report
}

func newEvidenceVerify(s Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify BUNDLE|DIR|oci://REFERENCE",
		Short: "Check a run: who signed it, every file, every verdict",
		Long: `verify checks what was signed about a run against the run: the signature, the
statement, the manifest, every file, that every planned step is accounted for, and
that every verdict follows from the observations. It reports all that it finds, and
needs no network but for an oci:// reference.

A bundle says what it was judged against; it cannot say that this is your site. With
--site, --profile and --cluster it is compared with what you expect, and a run of one
gate alone (accept --only) is refused.

With --bundle it checks a run that an identity signed (sign --identity-token-file): offline,
with the trusted root of that Sigstore, for the identity and the issuer that you name.

Without --key or --bundle it does not know who signed, which is no pass (exit 3), unless
--unsigned says that it is not asked. The directory of a run that is not signed is
checked all the same; whether it should have been signed only you know: with --key
it fails.

Exit codes: 0 all is as it should be (not that the run passed), 1 something is not,
2 bad input, 3 something could not be checked.`,
		Example: `  firstlight evidence verify 20261121-014233-7f3a.tar.gz --key firstlight.pub
  firstlight evidence verify 20261121-014233-7f3a.tar.gz --key firstlight.pub --site prod.yaml --cluster "$(kubectl get namespace kube-system -o jsonpath={.metadata.uid})"
  firstlight evidence verify oci://registry.example.com/acceptance:20261121 --key firstlight.pub
  firstlight evidence verify 20261121-014233-7f3a.tar.gz --bundle run.sigstore.json --trusted-root trusted_root.json --certificate-identity acceptance@example.com --certificate-oidc-issuer https://accounts.example.com
  firstlight evidence verify evidence/20261121-014233-7f3a`,
		Args: cobra.ExactArgs(1),
	}
	out := addOutputFlag(cmd)
	keyFiles := cmd.Flags().StringArray("key", nil, "public key of who may have signed; may be repeated, one is enough")
	unsigned := cmd.Flags().Bool("unsigned", false, "do not ask who signed")
	siteFile := cmd.Flags().String("site", "", "site file that the run has to be of")
	profileFile := cmd.Flags().String("profile", "", "profile, by name or file, that the run has to be judged against")
	cluster := cmd.Flags().String("cluster", "", "UID of the kube-system namespace of the cluster that the run has to be of")
	plain := addPlainHTTP(cmd)
	cmd.MarkFlagsMutuallyExclusive("key", "unsigned")
	var keyless keylessVerify
	keyless.add(cmd)
	cmd.RunE = func(c *cobra.Command, args []string) error {
		o := attest.Options{Unsigned: *unsigned, ChecksFor: checksOf}
		var err error
		if o.Expected, err = expectedOf(*siteFile, *profileFile, *cluster); err != nil {
			return err
		}
		if err := keyless.options(&o); err != nil {
			return err
		}
		for _, file := range *keyFiles {
			key, err := attest.LoadPublic(file)
			if err != nil {
				return usage("%w", err)
			}
			o.Keys = append(o.Keys, key)
		}
		temp, err := os.MkdirTemp("", "firstlight-verify-")
		if err != nil {
			return infrastructure(err)
		}
		defer func() { _ = os.RemoveAll(temp) }() // a temporary directory
		show := newTransfer(s.Err, "verify")
		o.Tell = show.tell
		v, err := verifyAny(c.Context(), args[0], temp, *plain, show, o)
		show.close(err)
		if err != nil {
			return err
		}
		err = out.write(s.Out, v, func(w io.Writer) error {
			return printVerification(w, v, display.Style{Color: colourOf(s.Out)})
		})
		if err != nil {
			return err
		}
		switch v.Outcome {
		case attest.OK:
			return nil
		case attest.Wrong:
			return &exitError{code: ExitFailed}
		default:
			return &exitError{code: ExitUnobserved}
		}
	}
	return cmd
}

// expectedOf reads what the verifier holds the run against.
func expectedOf(siteFile, profileFile, cluster string) (attest.Expected, error) {
	e := attest.Expected{Cluster: cluster}
	var err error
	if siteFile != "" {
		if e.Site, err = os.ReadFile(siteFile); err != nil {
			return e, usage("read --site: %w", err)
		}
	}
	if profileFile != "" {
		if e.Profile, err = profile.Raw(profileFile); err != nil {
			return e, usage("read --profile: %w", err)
		}
	}
	return e, nil
}

// verifyAny brings what was given into a directory, and verifies that.
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
		show.tell("unpacking")
		u, err := unpackTo(ctx, path, temp)
		if err != nil {
			return verification{}, err
		}
		o.Archive = &attest.Archive{Files: u.Files, Problems: u.Problems}
		if dir = u.Dir; dir == "" {
			return newVerification(given, attest.Refused(*o.Archive)), nil
		}
	} else if dir, err = bundleDir(path); err != nil {
		return verification{}, err
	} else if _, err := evidence.Attestation(dir); errors.Is(err, fs.ErrNotExist) && len(o.Keys) == 0 && o.Bundle == nil {
		o.Unsigned = true
	}
	r, err := attest.Verify(ctx, dir, o)
	if err != nil {
		return verification{}, usage("%w", err)
	}
	return newVerification(given, r), nil
}

func newVerification(given string, r attest.Report) verification {
	return verification{Bundle: given, Intact: r.Outcome() == attest.OK, Outcome: r.Outcome(), Digest: r.Manifest, Report: r}
}

func printVerification(w io.Writer, v verification, style display.Style) error {
	if v.Run != "" {
		hardware := ""
		if v.Simulated {
			hardware = " on SIMULATED hardware"
		}
		narrowed := ""
		if len(v.NarrowedBy) > 0 && v.State != attest.Interrupted {
			narrowed = ", narrowed"
		}
		fmt.Fprintf(w, "run %s: %s%s%s, %s\n", style.Bold(printable(v.Run)), printable(string(v.Verdict)), narrowed, hardware, printable(v.Progress()))
		for _, reason := range v.NarrowedBy {
			fmt.Fprintf(w, "  narrowed: %s\n", printable(reason))
		}
		fmt.Fprintln(w)
	}
	for _, c := range v.Checks {
		fmt.Fprintf(w, "  %s  %s\n", style.State(stateOfCheck(c.Outcome), fmt.Sprintf("%-13s %-11s", c.Check, c.Outcome)), printable(c.Detail))
	}
	if v.Digest != "" {
		fmt.Fprintf(w, "\nmanifest sha256 %s\n", v.Digest)
	}
	var err error
	switch v.Outcome {
	case attest.OK:
		_, err = fmt.Fprintf(w, "%s is intact: every file is as its manifest says, every verdict follows from what was observed\n", v.Bundle)
	case attest.Wrong:
		_, err = fmt.Fprintf(w, "%s is NOT intact:\n%s\n", v.Bundle, printable(v.String()))
	default:
		_, err = fmt.Fprintf(w, "%s: nothing wrong was found, but not everything was checked: %s\n", v.Bundle, strings.Join(v.Unchecked(), ", "))
	}
	return err
}

// printable keeps what a stranger wrote from commanding the terminal.
func printable(s string) string { return display.Escape(s) }

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
