package pages

import (
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"canopy/internal/web"
)

// assets are the files of site/ and thirdparty/ that the pages load.
type assets struct {
	files     map[string]*web.File // by the name in the address, with the hash
	addresses map[string]string    // by the name in the source
}

// loadAssets reads the files once a process: they are those of the binary.
var loadAssets = sync.OnceValue(func() *assets {
	a := &assets{files: map[string]*web.File{}, addresses: map[string]string{}}
	each(site, func(name string, content []byte) {
		if path.Ext(name) != ".html" {
			a.add(web.NewFile(name, content, web.Immutable))
		}
	})
	each(thirdparty, func(name string, content []byte) {
		f, err := web.NewCompressedFile(strings.TrimSuffix(name, ".gz"), content, web.Immutable)
		if err != nil {
			panic(fmt.Sprintf("pages: thirdparty/%s: %v", name, err))
		}
		a.add(f)
	})
	return a
})

// each reads the files of an embedded folder, which has no folders in it.
func each(folder fs.FS, read func(name string, content []byte)) {
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		read(path.Base(name), content)
		return nil
	})
	if err != nil {
		panic("pages: " + err.Error())
	}
}

func (a *assets) add(f *web.File) {
	ext := path.Ext(f.Name)
	hashed := strings.TrimSuffix(f.Name, ext) + "." + f.Hash + ext
	a.files[hashed] = f
	a.addresses[f.Name] = "assets/" + hashed
}

// address is where a page finds an asset, relative to the page.
func (a *assets) address(name string) (string, error) {
	address, ok := a.addresses[name]
	if !ok {
		return "", fmt.Errorf("there is no asset %s", name)
	}
	return address, nil
}

func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/favicon.ico" {
		// Browsers ask for this one by themselves, and take an SVG.
		w.Header().Set("Cache-Control", "public, max-age=86400")
		a.files[path.Base(a.addresses["favicon.svg"])].Write(w, r)
		return
	}
	f, ok := a.files[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	f.ServeHTTP(w, r)
}
