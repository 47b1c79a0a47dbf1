import MiniSearch from 'minisearch';
import { serve } from './search.mjs';
const index = new MiniSearch({ fields: ['text'], storeFields: ['text'] });
serve((all) => index.addAll(all), (prompt) => index.search(prompt).slice(0, 5));
