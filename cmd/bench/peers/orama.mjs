import { create, insertMultiple, search } from '@orama/orama';
import { serve } from './search.mjs';
const index = create({ schema: { text: 'string' } });
serve((all) => insertMultiple(index, all.map(({ text }) => ({ text })), 500), async (prompt) => (await search(index, { term: prompt, limit: 5 })).hits);
