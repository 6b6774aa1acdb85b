package upstream

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestDigest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "etcd")
	write := func(text string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	digest := func() string {
		t.Helper()
		d, err := Digest(path)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	// sha256sum of "abc" and of "abd"
	const abc, abd = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9"
	begin := time.Unix(1795300000, 0)
	write("abc", begin)
	for range 2 { // the second from the note
		if got := digest(); got != abc {
			t.Errorf("digest %s, want %s", got, abc)
		}
	}
	write("abd", begin.Add(time.Second))
	if got := digest(); got != abd {
		t.Errorf("after the program was built anew the digest is %s, want %s", got, abd)
	}
	if err := os.WriteFile(path+".sha256", []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := digest(); got != abd {
		t.Errorf("with a torn note the digest is %s, want %s", got, abd)
	}
	if _, err := Digest(path + "-none"); err == nil {
		t.Error("a program that is not there has a digest")
	}
}
