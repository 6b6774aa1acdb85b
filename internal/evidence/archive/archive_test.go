package archive_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/evidence/archive"
	"github.com/firstlight/firstlight/internal/evidence/evidencetest"
)

func pack(t *testing.T, dir string) []byte {
	t.Helper()
	var out bytes.Buffer
	if _, err := archive.Pack(t.Context(), &out, dir, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func unpack(t *testing.T, data []byte) archive.Unpacked {
	t.Helper()
	u, err := archive.Unpack(t.Context(), bytes.NewReader(data), t.TempDir(), archive.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// attested puts something where an attestation goes.
func attested(t *testing.T, dir string) string {
	t.Helper()
	if err := evidence.Attach(dir, []byte("{}\n"), false); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAPackedRunIsUnpackedUnchanged(t *testing.T) {
	t.Parallel()
	dir := attested(t, evidencetest.Finished(t))
	data := pack(t, dir)
	u := unpack(t, data)
	if u.Err() != nil || u.Run != filepath.Base(dir) {
		t.Fatalf("%+v", u)
	}
	if diff := cmp.Diff(tree(t, dir), tree(t, u.Dir)); diff != "" {
		t.Errorf("packed and unpacked (-was +is):\n%s", diff)
	}
	if !bytes.Equal(pack(t, u.Dir), data) {
		t.Error("packed again, it is another archive")
	}
	if problems, err := evidence.Verify(u.Dir); err != nil || len(problems) > 0 {
		t.Errorf("%s, %v", problems, err)
	}
	if names := entries(t, data); names[0] != u.Run+"/attestation.intoto.jsonl" || names[1] != u.Run+"/manifest.json" {
		t.Errorf("it begins with %s", names[:2])
	}
}

// The archive does not depend on the owner, the times or the modes of the files.
func TestTheArchiveIsDeterministic(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Finished(t)
	one := pack(t, dir)
	if err := os.Chmod(filepath.Join(dir, "run.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	past := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(dir, "run.json"), past, past); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pack(t, dir), one) {
		t.Error("another mode and time make another archive")
	}
}

func TestPackRefuses(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Finished(t)
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Pack(t.Context(), io.Discard, dir, nil); err == nil || !strings.Contains(err.Error(), "link is not a regular file") {
		t.Errorf("with a link: %v", err)
	}
	if _, err := archive.Pack(t.Context(), io.Discard, t.TempDir(), nil); err == nil {
		t.Error("an empty directory was packed")
	}
	run, err := evidence.Create(t.TempDir(), evidencetest.Start(evidencetest.Plan()), evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Pack(t.Context(), io.Discard, run.Dir(), nil); !errors.Is(err, evidence.ErrLocked) {
		t.Errorf("a run that is being written: %v", err)
	}
}

func TestAnInterruptedRunIsPacked(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p, err := archive.Pack(t.Context(), &out, attested(t, evidencetest.Interrupted(t)), nil)
	if err != nil || p.Finished || !p.Signed {
		t.Fatalf("%+v, %v", p, err)
	}
	if u := unpack(t, out.Bytes()); u.Err() != nil || u.Files != p.Files {
		t.Errorf("%+v", u)
	}
}

// A truncated archive is refused at every length. Once the manifest is readable,
// the error names the missing files.
func TestACutArchiveIsRefused(t *testing.T) {
	t.Parallel()
	data := pack(t, evidencetest.Finished(t))
	named := 0
	for _, at := range []int{0, 1, 9, 10, 20, len(data) / 8, len(data) / 4, len(data) / 2, len(data) - 2000, len(data) - 100, len(data) - 9, len(data) - 8, len(data) - 1} {
		u := unpack(t, data[:at])
		if u.Err() == nil {
			t.Errorf("cut at %d of %d: taken", at, len(data))
			continue
		}
		if strings.Contains(u.Err().Error(), "files are missing: ") {
			named++
		}
	}
	if named < 3 {
		t.Errorf("missing files were named %d times", named)
	}
	if u := unpack(t, append(bytes.Clone(data), data...)); u.Err() == nil || !strings.Contains(u.Err().Error(), "data after the end of the archive") {
		t.Errorf("two archives: %v", u.Err())
	}
}

// A changed byte is refused wherever it is, unless it changes nothing of what is packed: zeros can
// be copied from another place with zeros.
func TestADamagedArchiveIsRefused(t *testing.T) {
	t.Parallel()
	data := pack(t, evidencetest.Finished(t))
	refused, same := 0, 0
	for at := 10; at < len(data); at += len(data) / 60 {
		changed := bytes.Clone(data)
		changed[at] ^= 0x40
		switch u := unpack(t, changed); {
		case u.Err() != nil:
			refused++
		case bytes.Equal(unzipped(t, changed), unzipped(t, data)):
			same++
		default:
			t.Errorf("byte %d of %d changed: taken", at, len(data))
		}
	}
	if refused < 55 || same > 5 {
		t.Errorf("%d changes refused, %d without an effect", refused, same)
	}
}

// unzipped is the tar in an archive.
func unzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(zipped)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// rewrite makes an archive of the entries that change leaves or adds.
func rewrite(t *testing.T, data []byte, change func(h *tar.Header, body []byte, out *tar.Writer)) []byte {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	in := tar.NewReader(zipped)
	var to bytes.Buffer
	zip := gzip.NewWriter(&to)
	out := tar.NewWriter(zip)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		change(h, body, out)
	}
	change(nil, nil, out)
	if err := errors.Join(out.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return to.Bytes()
}

func put(t *testing.T, out *tar.Writer, h *tar.Header, body []byte) {
	t.Helper()
	h.Size = int64(len(body))
	if err := out.WriteHeader(h); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write(body); err != nil {
		t.Fatal(err)
	}
}

func TestArchivesThatAreRefused(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Finished(t)
	run := filepath.Base(dir)
	data := pack(t, dir)
	extra := func(h *tar.Header, body string) []byte {
		return rewrite(t, data, func(old *tar.Header, data []byte, out *tar.Writer) {
			if old == nil {
				put(t, out, h, []byte(body))
				return
			}
			put(t, out, old, data)
		})
	}
	for name, tt := range map[string]struct {
		data   []byte
		limits archive.Limits
		want   string
	}{
		"path traversal":       {extra(&tar.Header{Name: run + "/../../escaped", Mode: 0o644}, "x"), archive.Limits{}, "must be within the directory of the run"},
		"absolute path":        {extra(&tar.Header{Name: "/tmp/escaped", Mode: 0o644}, "x"), archive.Limits{}, "must be within the directory of the run"},
		"backslash":            {extra(&tar.Header{Name: run + `/..\escaped`, Mode: 0o644}, "x"), archive.Limits{}, "must be within the directory of the run"},
		"dot":                  {extra(&tar.Header{Name: run + "/./site.yaml", Mode: 0o644}, "x"), archive.Limits{}, "must be within the directory of the run"},
		"symbolic link":        {extra(&tar.Header{Name: run + "/link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""), archive.Limits{}, "not a regular file (a symbolic link)"},
		"hard link":            {extra(&tar.Header{Name: run + "/link", Typeflag: tar.TypeLink, Linkname: run + "/site.yaml"}, ""), archive.Limits{}, "not a regular file (a link)"},
		"device":               {extra(&tar.Header{Name: run + "/null", Typeflag: tar.TypeChar}, ""), archive.Limits{}, "not a regular file"},
		"directory":            {extra(&tar.Header{Name: run + "/more/", Typeflag: tar.TypeDir}, ""), archive.Limits{}, "not a regular file (a directory)"},
		"file twice":           {extra(&tar.Header{Name: run + "/site.yaml", Mode: 0o644}, "name: prod\n"), archive.Limits{}, "duplicate " + run + "/site.yaml"},
		"name in another case": {extra(&tar.Header{Name: run + "/Site.yaml", Mode: 0o644}, "name: prod\n"), archive.Limits{}, "differs from another name by case only"},
		"directory of no run": {rewrite(t, data, func(h *tar.Header, body []byte, out *tar.Writer) {
			if h != nil {
				h.Name = ".ssh" + strings.TrimPrefix(h.Name, run)
				put(t, out, h, body)
			}
		}), archive.Limits{}, `invalid run ID ".ssh"`},
		"file of another run":  {extra(&tar.Header{Name: "another/site.yaml", Mode: 0o644}, "x"), archive.Limits{}, "belongs to another run"},
		"file next to the run": {extra(&tar.Header{Name: "site.yaml", Mode: 0o644}, "x"), archive.Limits{}, "not in the directory of a run"},
		"too large a file":     {extra(&tar.Header{Name: run + "/large", Mode: 0o644}, strings.Repeat("x", 100_000)), archive.Limits{File: 99_999}, "large has 100000 bytes"},
		"too large altogether": {data, archive.Limits{Total: 1000}, "more than 1000 bytes"},
		"too many files":       {data, archive.Limits{Files: 5}, "more than 5 files"},
		"no gzip":              {[]byte("hello, world"), archive.Limits{}, "not a gzip archive"},
		"nothing":              {nil, archive.Limits{}, "no file of a run"},
		"empty archive":        {rewrite(t, data, func(*tar.Header, []byte, *tar.Writer) {}), archive.Limits{}, "no file of a run"},
		"file missing": {rewrite(t, data, func(h *tar.Header, body []byte, out *tar.Writer) {
			if h != nil && !strings.HasSuffix(h.Name, "/site.yaml") {
				put(t, out, h, body)
			}
		}), archive.Limits{}, "files are missing: site.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			into := t.TempDir()
			u, err := archive.Unpack(t.Context(), bytes.NewReader(tt.data), into, tt.limits)
			if err != nil || u.Err() == nil || !strings.Contains(u.Err().Error(), tt.want) {
				t.Errorf("unpacked with %v: %v", err, u.Err())
			}
			if names := tree(t, into); names[run+"/site.yaml"] == "name: prod\n" || names["site.yaml"] != "" || names[run+"/Site.yaml"] != "" || names[".ssh/site.yaml"] != "" {
				t.Error("the file was written")
			}
			if _, err := os.Lstat(filepath.Join(filepath.Dir(into), "escaped")); err == nil {
				t.Error("it got out")
			}
		})
	}
}

func TestExistingFilesAreNotOverwritten(t *testing.T) {
	t.Parallel()
	dir := evidencetest.Finished(t)
	if _, err := archive.Unpack(t.Context(), bytes.NewReader(pack(t, dir)), filepath.Dir(dir), archive.Limits{}); !errors.Is(err, os.ErrExist) {
		t.Errorf("unpacked over a run: %v", err)
	}
}

// small is a tar of a few files, before compression.
func small(f *testing.F) []byte {
	f.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range []string{"r/manifest.json", "r/run.json", "r/observations/0001-a-b-c.raw"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: 2, Mode: 0o644}); err != nil {
			f.Fatal(err)
		}
		if _, err := w.Write([]byte("{}")); err != nil {
			f.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	return out.Bytes()
}

// For any archive: Unpack returns, writes only below its directory, and a complete
// result has no problem.
func FuzzUnpack(f *testing.F) {
	good := small(f)
	f.Add(good, true)
	f.Add(good[:len(good)/2], true)
	f.Add([]byte("hello"), false)
	f.Fuzz(func(t *testing.T, data []byte, compress bool) {
		if compress {
			var zipped bytes.Buffer
			w := gzip.NewWriter(&zipped)
			if _, err := w.Write(data); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			data = zipped.Bytes()
		}
		outer := t.TempDir()
		into := filepath.Join(outer, "into")
		if err := os.Mkdir(into, 0o700); err != nil {
			t.Fatal(err)
		}
		u, err := archive.Unpack(t.Context(), bytes.NewReader(data), into, archive.Limits{Files: 50, File: 1 << 16, Total: 1 << 18})
		if err == nil && u.Err() == nil && u.Files == 0 {
			t.Error("an archive without files was taken")
		}
		if names, err := os.ReadDir(outer); err != nil || len(names) != 1 {
			t.Errorf("outside the directory: %v, %v", names, err)
		}
	})
}

func entries(t *testing.T, data []byte) []string {
	t.Helper()
	var names []string
	rewrite(t, data, func(h *tar.Header, _ []byte, _ *tar.Writer) {
		if h != nil {
			names = append(names, h.Name)
		}
	})
	return names
}

// tree are the files below dir.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
