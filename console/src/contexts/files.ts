/** The kinds of documents that the platform reads, by the extension of their names. */
export const formats = ["pdf", "docx", "doc", "txt", "md", "csv", "html", "htm", "pptx", "xlsx", "odt", "epub"] as const;

/** For the dialog that chooses files. */
export const accept = formats.map((format) => `.${format}`).join(",");

export function formatOf(name: string): string {
  return /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? "";
}

export function isRead(name: string): boolean {
  return (formats as readonly string[]).includes(formatOf(name));
}

/** The files that were dropped, with those in folders. It has to be called while the event is handled: afterwards the browser has forgotten them. */
export function filesOf({ items }: DataTransfer): Promise<File[]> {
  const found = [...items].map((item) => {
    const entry = item.webkitGetAsEntry();
    return entry ? filesIn(entry) : [item.getAsFile()].filter((file) => file !== null); // what another program drags may have no entry
  });
  return Promise.all(found).then((files) => files.flat());
}

/** Whether files are dragged, and not a text or a link. */
export function hasFiles({ types }: DataTransfer): boolean {
  return types.includes("Files");
}

async function filesIn(entry: FileSystemEntry): Promise<File[]> {
  if (isFile(entry)) return [await new Promise<File>((done, failed) => entry.file(done, failed))];
  if (!isFolder(entry)) return [];
  const reader = entry.createReader();
  const files: File[] = [];
  for (;;) {
    // A reader gives a part of the folder at a time, and nothing at the end.
    const part = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    if (part.length === 0) return files;
    for (const one of part) files.push(...await filesIn(one));
  }
}

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile;
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory;
